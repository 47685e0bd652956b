//! The properties after WITH, each asked for as the kind it should be.

use super::java;
use crate::ast::{Property, PropertyValue};
use crate::error::Error;
use crate::error::schema::OptionError;

/// Properties of a statement.
#[derive(Clone, Copy)]
pub(super) struct Properties<'a>(pub(super) &'a [Property]);

impl<'a> Properties<'a> {
    fn get(self, name: &str) -> Option<&'a Property> {
        self.0.iter().find(|p| p.name.text == name)
    }

    /// Refuses a property that is none of `known`.
    pub(super) fn check_known(self, known: &[&str]) -> Result<(), Error> {
        match self.0.iter().find(|p| !known.contains(&p.name.text.as_str())) {
            None => Ok(()),
            Some(property) => {
                let name = property.name.text.clone();
                Err(Error::from(OptionError::Unknown { name }).or_at(property.name.span))
            }
        }
    }

    /// A property whose value is text.
    pub(super) fn string(self, name: &str) -> Result<Option<&'a str>, Error> {
        match self.get(name).map(|p| (&p.value, p)) {
            None => Ok(None),
            Some((PropertyValue::Simple(text), _)) => Ok(Some(text)),
            Some((PropertyValue::Map(_), p)) => {
                let name = name.to_string();
                Err(Error::from(OptionError::NotAString { name }).or_at(p.name.span))
            }
        }
    }

    /// A property whose value is a map.
    pub(super) fn map(self, name: &str) -> Result<Option<&'a [(String, String)]>, Error> {
        match self.get(name).map(|p| (&p.value, p)) {
            None => Ok(None),
            Some((PropertyValue::Map(pairs), _)) => Ok(Some(pairs)),
            Some((PropertyValue::Simple(_), p)) => {
                let name = name.to_string();
                Err(Error::from(OptionError::NotAMap { name }).or_at(p.name.span))
            }
        }
    }

    /// A property that is a Java int.
    pub(super) fn int(self, name: &str) -> Result<Option<i32>, Error> {
        self.parsed(
            name,
            |text| text.parse().ok(),
            |name, value| OptionError::NotAnInteger { name, value },
        )
    }

    /// A property that is a Java double.
    pub(super) fn double(self, name: &str) -> Result<Option<f64>, Error> {
        self.parsed(name, java::parse_double, |name, value| OptionError::NotADouble { name, value })
    }

    /// A property that is a boolean, in any case: `true`, `1`, `yes`, `false`, `0`, `no`.
    pub(super) fn boolean(self, name: &str) -> Result<Option<bool>, Error> {
        let read = |text: &str| match text.to_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" => Some(false),
            _ => None,
        };
        self.parsed(name, read, |name, value| OptionError::NotABoolean { name, value })
    }

    fn parsed<T>(
        self,
        name: &str,
        read: impl Fn(&str) -> Option<T>,
        refusal: impl Fn(String, String) -> OptionError,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.string(name)? else { return Ok(None) };
        match read(text) {
            Some(value) => Ok(Some(value)),
            None => Err(refusal(name.to_string(), text.to_string()).into()),
        }
    }
}
