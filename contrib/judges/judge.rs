//! Judges outputs of a device by the goldens of `opcert export --expected`: judge GOLDENS OUTPUTS
//! Prints a line for each case, its folder and its verdict, apart by a tab. Reads .npy of numpy's own types.
use std::{collections::HashMap, env, fs, path::Path};

#[derive(Default)]
struct Output { kind: String, shape: String, expected: String, allowed: String, alternatives: HashMap<usize, Vec<Vec<u8>>> }
struct Expectation { by_text: bool, outputs: Vec<Output> }
struct Case { folder: String, demand: String, valid: String, refusal: String, expectations: Vec<Expectation> }
struct Array { kind: String, shape: String, bytes: Vec<u8> }
enum Did { Nothing, Said(String), Answered(Vec<Array>) }

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> { Some(text.split_once(begin)?.1.split_once(end)?.0) }

fn read_npy(path: &Path) -> Array {
    let raw = fs::read(path).expect("an output");
    let start = if raw[6] > 1 { 12 } else { 10 };
    let length = raw[8..start].iter().rev().fold(0, |sum, byte| sum << 8 | *byte as usize);
    let header = String::from_utf8_lossy(&raw[start..start + length]).into_owned();
    assert!(!header.contains("'fortran_order': True"), "columns first");
    let descr = between(&header, "'descr': '", "'").expect("a type");
    let shape = between(&header, "'shape': (", ")").expect("a shape").replace(' ', "").trim_end_matches(',').to_string();
    let bits = 8 * descr[2..].parse::<usize>().unwrap_or(0);
    let kind = match &descr[1..] {
        "f2" | "f4" | "f8" => ["float16", "float", "double"][bits / 32].into(),
        kind if kind.starts_with('i') => format!("int{bits}"),
        kind if kind.starts_with('u') => format!("uint{bits}"),
        kind => kind.replace("b1", "bool"),
    };
    Array { kind, shape: if shape.is_empty() { "-".into() } else { shape }, bytes: raw[start + length..].to_vec() }
}

fn width(kind: &str) -> usize {
    let bits = match kind { "double" => "64", "float" => "32", _ => kind.trim_start_matches(char::is_alphabetic) };
    bits.parse::<usize>().map_or(1, |bits| bits / 8)
}

fn whole(bytes: &[u8]) -> u64 { bytes.iter().rev().fold(0, |sum, byte| sum << 8 | *byte as u64) }

fn number(kind: &str, bytes: &[u8]) -> f64 {
    let bits = whole(bytes);
    let unused = 64 - 8 * bytes.len();
    match kind {
        "float" => f32::from_bits(bits as u32) as f64,
        "double" => f64::from_bits(bits),
        "float16" => {
            let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
            let end = if fraction == 0.0 { f64::INFINITY } else { f64::NAN };
            let begin = if exponent == 0 { 0.0 } else { 1024.0 };
            let size = if exponent == 31 { end } else { (begin + fraction) * 2f64.powi(exponent.max(1) - 25) };
            if bits & 0x8000 != 0 { -size } else { size }
        }
        _ if kind.starts_with('i') => ((bits << unused) as i64 >> unused) as f64,
        _ => bits as f64,
    }
}

/// The rounded distance decides unless it is the allowed one: then the rounding error of the subtraction does.
fn is_near(kind: &str, got: &[u8], wanted: &[u8], allowed: f64) -> bool {
    if kind == "int64" || kind == "uint64" {
        let (left, right) = (whole(got), whole(wanted));
        let apart = if kind == "int64" { (left as i64).abs_diff(right as i64) } else { left.abs_diff(right) };
        return allowed >= 18446744073709551616.0 || apart <= allowed.floor() as u64;
    }
    let (left, right) = (number(kind, got), number(kind, wanted));
    let same = left == right || (left.is_nan() && right.is_nan());
    if same || kind == "bool" || left.is_nan() || right.is_nan() { return same || allowed.is_infinite(); }
    let difference = left - right;
    let apart = difference.abs();
    if apart != allowed || apart.is_infinite() { return apart <= allowed; }
    let taken = difference - left;
    let error = (left - (difference - taken)) + (-right - taken);
    !(error != 0.0 && (error > 0.0) == (difference > 0.0))
}

fn is_right(output: &Output, got: &Array, goldens: &Path) -> bool {
    if got.kind != output.kind || got.shape != output.shape { return false; }
    let wanted = fs::read(goldens.join(&output.expected)).expect("what is expected");
    let allowed = (output.allowed != "-").then(|| fs::read(goldens.join(&output.allowed)).expect("what is allowed"));
    let (kind, size) = (&output.kind[..], width(&output.kind));
    let is_nan = |bytes: &[u8]| number(kind, bytes).is_nan();
    wanted.len() == got.bytes.len() && got.bytes.chunks(size).zip(wanted.chunks(size)).enumerate().all(|(place, (mine, other))| {
        let near = || match &allowed {
            Some(doubles) => is_near(kind, mine, other, number("double", &doubles[place * 8..place * 8 + 8])),
            None => is_nan(mine) && is_nan(other),
        };
        let is_one = |bytes: &Vec<u8>| bytes == mine || (is_nan(mine) && is_nan(bytes));
        mine == other || near() || output.alternatives.get(&place).map_or(false, |values| values.iter().any(is_one))
    })
}

fn look(folder: &Path) -> Did {
    let file = |number: usize| folder.join(format!("output_{number}.npy"));
    let outputs: Vec<Array> = (0..).map(file).take_while(|path| path.exists()).map(|path| read_npy(&path)).collect();
    let said = fs::read_to_string(folder.join("status.json")).ok().map(|text| {
        let word = between(&text, "\"status\"", ",").or(between(&text, "\"status\"", "}")).unwrap_or("answered");
        word.trim_matches(|letter: char| !letter.is_alphabetic()).to_string()
    });
    match said {
        Some(word) if word != "answered" => Did::Said(if outputs.is_empty() { word } else { "contradicts".into() }),
        None if outputs.is_empty() => Did::Nothing,
        _ => Did::Answered(outputs),
    }
}

fn judge(case: &Case, goldens: &Path, outputs: &Path) -> &'static str {
    let refuses = case.demand == "refuse";
    match look(&outputs.join(&case.folder)) {
        Did::Nothing => "not_run",
        Did::Said(word) => match (&word[..], &case.refusal[..]) {
            ("crashed", _) => "crash",
            ("timed_out", _) => "timeout",
            ("unsupported" | "rejected", _) if case.demand == "survive" => "observed",
            ("unsupported" | "rejected", _) if refuses => if case.valid != "-" && matches!(look(&outputs.join(&case.valid)), Did::Answered(_)) { "pass" } else { "unsupported" },
            ("unsupported", _) => "unsupported",
            ("rejected", "open") => "observed",
            ("rejected", "contradicted") => "document",
            ("rejected", _) => "rejected_valid",
            _ => "harness_error",
        },
        Did::Answered(_) if case.demand == "survive" => "observed",
        Did::Answered(_) if refuses => "accepted_invalid",
        Did::Answered(got) => {
            let holds = |each: &&Expectation| each.outputs.iter().zip(&got).all(|(output, array)| is_right(output, array, goldens));
            let whole = case.expectations.iter().filter(|each| each.outputs.len() == got.len());
            let right: Vec<bool> = whole.filter(holds).map(|each| each.by_text).collect();
            if right.contains(&true) { "pass" } else if right.is_empty() { "mismatch" } else { "document" }
        }
    }
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let (goldens, outputs) = (Path::new(&words[1]), Path::new(&words[2]));
    let mut cases: Vec<Case> = vec![];
    for line in fs::read_to_string(goldens.join("goldens.txt")).expect("goldens").lines().skip(1) {
        let word: Vec<String> = line.split(' ').map(String::from).collect();
        let at = |place: usize| word[place].clone();
        if word[0] == "case" {
            cases.push(Case { folder: at(1), demand: at(2), valid: at(3), refusal: at(4), expectations: vec![] });
        }
        let Some(Case { expectations, .. }) = cases.last_mut() else { continue };
        if word[0] == "expectation" { expectations.push(Expectation { by_text: word[1] == "text", outputs: vec![] }); }
        let Some(Expectation { outputs, .. }) = expectations.last_mut() else { continue };
        if word[0] == "output" {
            outputs.push(Output { kind: at(1), shape: at(2), expected: at(3), allowed: at(4), ..Default::default() });
        }
        for (place, hexes) in word.iter().filter(|_| word[0] == "alternatives").filter_map(|each| each.split_once(':')) {
            let byte = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
            let bytes = |hex: &str| (0..hex.len()).step_by(2).map(|at| byte(hex, at)).collect();
            let output = outputs.last_mut().expect("an output");
            output.alternatives.insert(place.parse().expect("a place"), hexes.split(',').map(bytes).collect());
        }
    }
    for case in &cases { println!("{}\t{}", case.folder, judge(case, goldens, outputs)); }
}
