//! SELECT.
//!
//! Not here: selectors ([`super::selector`]) and WHERE ([`super::relation`]).

use super::{Parser, Read};
use crate::ast::{Ordering, Select, SelectItem};
use crate::lexer::Keyword;

/// What stands between SELECT and FROM.
struct SelectClause {
    distinct: bool,
    selectors: Vec<SelectItem>,
}

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Read<Select> {
        self.advance();
        let (json, clause) = self.json_clause()?;
        self.expect_keyword(Keyword::From)?;
        let table = self.table_name()?;
        let relations =
            if self.eat_keyword(Keyword::Where) { self.where_clause()? } else { Vec::new() };
        let mut group_by = Vec::new();
        if self.eat_keyword(Keyword::Group) {
            self.expect_keyword(Keyword::By)?;
            group_by = self.selectors()?;
        }
        let mut order_by = Vec::new();
        if self.eat_keyword(Keyword::Order) {
            self.expect_keyword(Keyword::By)?;
            order_by = self.separated(Self::ordering)?;
        }
        let mut per_partition_limit = None;
        if self.eat_keyword(Keyword::Per) {
            self.expect_keywords(&[Keyword::Partition, Keyword::Limit])?;
            per_partition_limit = Some(self.int_value()?);
        }
        let limit = if self.eat_keyword(Keyword::Limit) { Some(self.int_value()?) } else { None };
        let allow_filtering = self.eat_keyword(Keyword::Allow);
        if allow_filtering {
            self.expect_keyword(Keyword::Filtering)?;
        }
        Ok(Select {
            json,
            distinct: clause.distinct,
            selectors: clause.selectors,
            table,
            relations,
            group_by,
            order_by,
            per_partition_limit,
            limit,
            allow_filtering,
        })
    }

    /// `json` may be a column: the keyword is taken only if a whole clause follows it.
    fn json_clause(&mut self) -> Read<(bool, SelectClause)> {
        if self.is_keyword(Keyword::Json) {
            let mark = self.mark();
            self.advance();
            let clause = self.select_clause();
            if let Some(clause) = self.or_back(mark, clause)? {
                return Ok((true, clause));
            }
        }
        Ok((false, self.select_clause()?))
    }

    fn select_clause(&mut self) -> Read<SelectClause> {
        if self.is_keyword(Keyword::Distinct) {
            let mark = self.mark();
            self.advance();
            let selectors = self.select_items();
            if let Some(selectors) = self.or_back(mark, selectors)? {
                return Ok(SelectClause { distinct: true, selectors });
            }
        }
        Ok(SelectClause { distinct: false, selectors: self.select_items()? })
    }

    pub(super) fn select_items(&mut self) -> Read<Vec<SelectItem>> {
        if self.eat("*") {
            return Ok(Vec::new());
        }
        self.separated(|p| {
            let selector = *p.selector()?;
            let alias = if p.eat_keyword(Keyword::As) { Some(p.name("an alias")?) } else { None };
            Ok(SelectItem { selector, alias })
        })
    }

    fn ordering(&mut self) -> Read<Ordering> {
        let column = self.column()?;
        let mut vector = None;
        if self.eat_keyword(Keyword::Ann) {
            self.expect_keyword(Keyword::Of)?;
            vector = Some(*self.term()?);
        }
        let descending = self.eat_keyword(Keyword::Desc);
        if !descending {
            self.eat_keyword(Keyword::Asc);
        }
        Ok(match vector {
            Some(vector) => Ordering::Ann { column, vector },
            None => Ordering::Column { column, descending },
        })
    }
}
