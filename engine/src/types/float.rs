//! Floating-point numbers as Java writes and reads them.
//!
//! Java's `Double.toString` gives plain digits from 0.001 up to, not including, 10,000,000 and `1.0E10` beyond,
//! with digits enough to read back the same number and at least one after the point. Until JDK 19 they are
//! not always the fewest: `2E23` comes out as `1.9999999999999998E23`, the least double as `4.9E-324`. That is
//! what Cassandra 5.0 answers on its JDK 17, so the digits are made in its way:
//!
//! ```text
//! number = B / S x 10^e, with B / S below 10;  M = half the gap to the next number, on B's scale
//! digit = B / S, B = rest x 10, M = M x 10     until the rest is below M, or nearer than M to the next digit
//! ```
//!
//! Where 32 or 64 bits suffice by its estimate Java computes in them, with overflows that change a digit; and
//! a number in exponent form gets two digits whatever the gap. Compared with the server's own texts in
//! tests/data/java_floats.tsv.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// `Double.toString`.
pub fn double_text(number: f64) -> String {
    let bits = number.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    text(number.is_sign_negative(), number, Binary::new(exponent, fraction, 52, 1023))
}

/// `Float.toString`.
pub fn float_text(number: f32) -> String {
    let bits = u64::from(number.abs().to_bits());
    let (exponent, fraction) = (bits >> 23, bits & ((1 << 23) - 1));
    text(number.is_sign_negative(), f64::from(number), Binary::new(exponent, fraction, 23, 127))
}

fn text(negative: bool, number: f64, parts: Binary) -> String {
    if number.is_nan() {
        return "NaN".to_string();
    }
    let sign = if negative { "-" } else { "" };
    if number.is_infinite() {
        return format!("{sign}Infinity");
    }
    if number == 0.0 {
        return format!("{sign}0.0");
    }
    let (digits, point) = parts.digits();
    format!("{sign}{}", layout(&digits, point))
}

/// Digits with the point after the first `point` of them.
fn layout(digits: &str, point: i32) -> String {
    let or_zero =
        |digits: &str| if digits.is_empty() { "0".to_string() } else { digits.to_string() };
    match point {
        1..=7 => {
            let point = point.unsigned_abs() as usize;
            let whole = format!("{digits:0<point$}");
            format!("{}.{}", &whole[..point], or_zero(&whole[point..]))
        }
        -2..=0 => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        _ => format!("{}.{}E{}", &digits[..1], or_zero(&digits[1..]), point - 1),
    }
}

/// Bits of a double's fraction behind the leading one; floats are widened to it.
const FRACTION_BITS: i32 = 52;

/// A number above zero: `fraction` with its leading one at bit 52, times 2^(exponent - 52).
struct Binary {
    fraction: u64,
    exponent: i32,
    /// Bits that the number's format gives the fraction, which is fewer for the smallest numbers.
    significant_bits: i32,
}

impl Binary {
    fn new(exponent: u64, fraction: u64, width: i32, bias: i32) -> Binary {
        let fraction = fraction << (FRACTION_BITS - width);
        if exponent == 0 {
            let shift = fraction.leading_zeros() as i32 - (63 - FRACTION_BITS);
            return Binary {
                fraction: fraction.checked_shl(shift.unsigned_abs()).unwrap_or(0),
                exponent: 1 - shift - bias,
                significant_bits: width + 1 - shift,
            };
        }
        Binary {
            fraction: fraction | 1 << FRACTION_BITS,
            exponent: exponent as i32 - bias,
            significant_bits: width + 1,
        }
    }

    /// The digits, and how many of them stand before the point.
    fn digits(&self) -> (String, i32) {
        let used_bits = FRACTION_BITS + 1 - self.fraction.trailing_zeros() as i32;
        let bits_after_point = (used_bits - self.exponent - 1).max(0);
        if bits_after_point == 0 && self.exponent <= 62 {
            return self.whole_digits();
        }
        self.generated_digits(used_bits, bits_after_point)
    }

    /// A whole number of at most 63 bits: its own digits, rounded where the format has no bits for them.
    fn whole_digits(&self) -> (String, i32) {
        let mut number = match self.exponent - FRACTION_BITS {
            shift @ 0.. => self.fraction << shift,
            shift => self.fraction >> -shift,
        };
        let idle_bits = self.exponent - self.significant_bits - 1;
        let idle_digits =
            if idle_bits > 1 { (f64::from(idle_bits) * LOG10_OF_2) as u32 } else { 0 };
        let unit = 10u64.pow(idle_digits);
        let round_up = idle_digits > 0 && number % unit >= unit / 2;
        number = number / unit + u64::from(round_up);
        let digits = number.to_string();
        let point = digits.len() as i32 + idle_digits as i32;
        (digits.trim_end_matches('0').to_string(), point)
    }

    fn generated_digits(&self, used_bits: i32, bits_after_point: i32) -> (String, i32) {
        let mut exponent10 = self.estimate();
        let fives_b = (-exponent10).max(0);
        let mut twos_b = fives_b + bits_after_point + self.exponent;
        let fives_s = exponent10.max(0);
        let mut twos_s = fives_s + bits_after_point;
        let mut twos_m = twos_b - self.significant_bits;
        twos_b -= used_bits - 1;
        let common = twos_b.min(twos_s);
        twos_b -= common;
        twos_s -= common;
        twos_m -= common;
        // The number below a power of two is only half as far away.
        if used_bits == 1 {
            twos_m -= 1;
        }
        if twos_m < 0 {
            twos_b -= twos_m;
            twos_s -= twos_m;
            twos_m = 0;
        }
        let bits_b = used_bits + twos_b + bits_of_power_of_5(fives_b);
        let bits_ten_s = twos_s + 1 + bits_of_power_of_5(fives_s + 1);
        let scaled = |number: u64, fives: i32, twos: i32| {
            (BigUint::from(number) * BigUint::from(5u8).pow(fives.unsigned_abs()))
                << twos.unsigned_abs()
        };
        let fraction = self.fraction >> self.fraction.trailing_zeros();
        let generator = Generator {
            rest: scaled(fraction, fives_b, twos_b),
            unit: scaled(1, fives_s, twos_s),
            half_gap: scaled(1, fives_b, twos_m),
            width: match bits_b.max(bits_ten_s) {
                ..32 => Width::Int,
                32..64 => Width::Long,
                _ => Width::Big,
            },
        };
        let digits = generator.run(&mut exponent10);
        (digits, exponent10 + 1)
    }

    /// Java's guess at the power of ten, right or one too high.
    #[expect(clippy::approx_constant, reason = "Java's own, some digits short")]
    fn estimate(&self) -> i32 {
        let mantissa = f64::from_bits((1023 << 52) | (self.fraction & ((1 << 52) - 1)));
        let guess = (mantissa - 1.5) * 0.289529654
            + 0.176091259
            + f64::from(self.exponent) * 0.301029995663981;
        guess.floor() as i32
    }
}

const LOG10_OF_2: f64 = std::f64::consts::LOG10_2;

/// Bits of 5^n as Java counts them: exactly for small n (with none for 1), three for each factor beyond.
fn bits_of_power_of_5(n: i32) -> i32 {
    match n {
        0 => 0,
        1..=26 => (f64::from(n) * std::f64::consts::LOG2_10 - f64::from(n)) as i32 + 1,
        _ => 3 * n,
    }
}

/// The loop that makes digits.
struct Generator {
    rest: BigUint,
    unit: BigUint,
    half_gap: BigUint,
    width: Width,
}

impl Generator {
    fn run(mut self, exponent10: &mut i32) -> String {
        let mut digits = Vec::new();
        let first = self.next_digit();
        let (mut low, mut high) = self.near();
        if first == 0 && !high {
            // The guess was too high.
            *exponent10 -= 1;
        } else {
            digits.push(first);
        }
        // Exponent form has a digit after the point in any case.
        if *exponent10 < -3 || *exponent10 >= 8 {
            (low, high) = (false, false);
        }
        while !low && !high {
            digits.push(self.next_digit());
            (low, high) = self.near();
        }
        let round_up = high
            && (!low || {
                let twice = &self.rest << 1u8;
                let ten = &self.unit * 10u8;
                twice > ten || (twice == ten && digits.last().is_some_and(|digit| digit % 2 == 1))
            });
        if round_up && increment(&mut digits) {
            *exponent10 += 1;
        }
        digits.iter().map(|digit| char::from(b'0' + digit)).collect()
    }

    fn next_digit(&mut self) -> u8 {
        let digit = (&self.rest / &self.unit).to_u8().expect("the number was scaled below ten");
        self.rest = &self.rest % &self.unit * 10u8;
        self.half_gap *= 10u8;
        digit
    }

    /// Whether the digits so far are near enough, and whether those with one more in the last place are.
    fn near(&self) -> (bool, bool) {
        let ten = &self.unit * 10u8;
        match self.width {
            Width::Int => {
                let wrap = |number: &BigUint| low_64(number) as i32;
                let (rest, half_gap) = (wrap(&self.rest), wrap(&self.half_gap));
                let high = rest.wrapping_add(half_gap) > wrap(&ten);
                if half_gap > 0 { (rest < half_gap, high) } else { (true, true) }
            }
            Width::Long => {
                let wrap = |number: &BigUint| low_64(number).cast_signed();
                let (rest, half_gap) = (wrap(&self.rest), wrap(&self.half_gap));
                let high = rest.wrapping_add(half_gap) > wrap(&ten);
                if half_gap > 0 { (rest < half_gap, high) } else { (true, true) }
            }
            Width::Big => (self.rest < self.half_gap, &self.rest + &self.half_gap >= ten),
        }
    }
}

/// The integers that Java would have computed with.
enum Width {
    /// 32 bits, which overflow.
    Int,
    /// 64 bits, which overflow.
    Long,
    /// As many as it takes; only here does a tie count as near.
    Big,
}

fn low_64(number: &BigUint) -> u64 {
    number.iter_u64_digits().next().unwrap_or(0)
}

/// Adds one in the last place; whether the number has become a power of ten.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    digits[0] = 1;
    true
}

/// What `Double.valueOf` is to read, if `text` is a decimal number in its syntax: blanks and the suffix of a
/// Java literal cut off. Rust rounds it as Java does.
fn java_number(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let bare = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let unsigned = bare.strip_prefix(['+', '-']).unwrap_or(bare);
    if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Some(bare);
    }
    matches!(unsigned, "NaN" | "Infinity").then_some(bare).filter(|_| bare == text)
}

/// `Double.valueOf`; `None` where it throws.
pub fn parse_double(text: &str) -> Option<f64> {
    match java_number(text)? {
        "NaN" | "+NaN" | "-NaN" => Some(f64::NAN),
        number => number.replace("Infinity", "inf").parse().ok(),
    }
}

/// `Float.valueOf`; `None` where it throws.
pub fn parse_float(text: &str) -> Option<f32> {
    match java_number(text)? {
        "NaN" | "+NaN" | "-NaN" => Some(f32::NAN),
        number => number.replace("Infinity", "inf").parse().ok(),
    }
}
