// Judges outputs of a device by the goldens of `opcert export --expected`: node judge.mjs GOLDENS OUTPUTS
// Prints a line for each case, its folder and its verdict, apart by a tab. Reads .npy of numpy's own types.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TYPES = { '<f4': 'float', '<f8': 'double', '<f2': 'float16', '|b1': 'bool', '|i1': 'int8', '|u1': 'uint8', '<i2': 'int16', '<u2': 'uint16', '<i4': 'int32', '<u4': 'uint32', '<i8': 'int64', '<u8': 'uint64' };
const WIDTHS = { float: 4, double: 8, float16: 2, bool: 1, int8: 1, uint8: 1, int16: 2, uint16: 2, int32: 4, uint32: 4, int64: 8, uint64: 8 };

function readNpy(path) {
  const raw = readFileSync(path);
  const long = raw[6] > 1;
  const start = long ? 12 : 10;
  const length = long ? raw.readUInt32LE(8) : raw.readUInt16LE(8);
  const header = raw.toString('latin1', start, start + length);
  const descr = /'descr': '([^']+)'/.exec(header)[1];
  if (header.includes("'fortran_order': True")) throw new Error('columns first');
  const shape = /'shape': \(([^)]*)\)/.exec(header)[1].split(',').map((word) => word.trim()).filter((word) => word);
  return { type: TYPES[descr] ?? descr, shape: shape.join(',') || '-', bytes: raw.subarray(start + length) };
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

function number(type, bytes, at) {
  switch (type) {
    case 'float': return bytes.readFloatLE(at);
    case 'double': return bytes.readDoubleLE(at);
    case 'float16': return half(bytes.readUInt16LE(at));
    case 'int64': return bytes.readBigInt64LE(at);
    case 'uint64': return bytes.readBigUInt64LE(at);
    default: return type.startsWith('int') ? bytes.readIntLE(at, WIDTHS[type]) : bytes.readUIntLE(at, WIDTHS[type]);
  }
}

// The rounded distance decides unless it is the allowed one: then the rounding error of the subtraction does.
function isNear(got, wanted, allowed, type) {
  if (typeof got === 'bigint') {
    const apart = got > wanted ? got - wanted : wanted - got;
    return allowed >= 2 ** 64 || apart <= BigInt(Math.floor(allowed));
  }
  if (Number.isNaN(got) || Number.isNaN(wanted)) return (Number.isNaN(got) && Number.isNaN(wanted)) || allowed === Infinity;
  if (got === wanted) return true;
  if (type === 'bool') return allowed === Infinity;
  const difference = got - wanted, apart = Math.abs(difference);
  if (apart !== allowed || apart === Infinity) return apart <= allowed;
  const taken = difference - got;
  const error = (got - (difference - taken)) + (-wanted - taken);
  return !(error !== 0 && (error > 0) === (difference > 0));
}

function isRight(output, got, goldens) {
  if (got.type !== output.type || got.shape !== output.shape) return false;
  const wanted = readFileSync(join(goldens, output.expected)), width = WIDTHS[output.type];
  if (wanted.length !== got.bytes.length) return false;
  const allowed = output.allowed === '-' ? null : readFileSync(join(goldens, output.allowed));
  for (let place = 0, at = 0; at < wanted.length; place += 1, at += width) {
    const mine = got.bytes.subarray(at, at + width);
    if (mine.equals(wanted.subarray(at, at + width))) continue;
    const value = number(output.type, got.bytes, at), other = number(output.type, wanted, at);
    if (allowed ? isNear(value, other, allowed.readDoubleLE(place * 8), output.type) : Number.isNaN(value) && Number.isNaN(other)) continue;
    const isOne = (hex) => {
      const bytes = Buffer.from(hex, 'hex');
      return mine.equals(bytes) || (Number.isNaN(value) && Number.isNaN(number(output.type, bytes, 0)));
    };
    if (!(output.alternatives.get(place) ?? []).some(isOne)) return false;
  }
  return true;
}

// What a device did with a case: null, a status, or its outputs.
function look(folder) {
  const files = [];
  while (existsSync(join(folder, `output_${files.length}.npy`))) files.push(join(folder, `output_${files.length}.npy`));
  const status = join(folder, 'status.json');
  const said = existsSync(status) ? /"status"\s*:\s*"(\w+)"/.exec(readFileSync(status, 'utf8'))?.[1] ?? 'answered' : null;
  if (said !== null && said !== 'answered') return files.length ? 'contradicts' : said;
  return files.length || said ? files.map(readNpy) : null;
}

function judge(found, goldens, outputs) {
  const did = look(join(outputs, found.folder));
  if (did === null) return 'not_run';
  if (typeof did === 'string' && did !== 'unsupported' && did !== 'rejected') {
    return { crashed: 'crash', timed_out: 'timeout' }[did] ?? 'harness_error';
  }
  if (found.demand === 'survive') return 'observed';
  if (typeof did === 'string') {
    if (found.demand === 'refuse') return found.valid !== '-' && Array.isArray(look(join(outputs, found.valid))) ? 'pass' : 'unsupported';
    if (did === 'unsupported') return 'unsupported';
    return { open: 'observed', contradicted: 'document', no: 'rejected_valid' }[found.refusal];
  }
  if (found.demand === 'refuse') return 'accepted_invalid';
  const right = found.expectations.filter((each) => each.outputs.length === did.length && each.outputs.every((output, place) => isRight(output, did[place], goldens)));
  if (!right.length) return 'mismatch';
  return right.some((each) => each.says === 'text') ? 'pass' : 'document';
}

const [goldens, outputs] = process.argv.slice(2);
const cases = [];
for (const line of readFileSync(join(goldens, 'goldens.txt'), 'utf8').split('\n').slice(1)) {
  const [kind, ...words] = line.split(' ');
  const found = cases.at(-1);
  if (kind === 'case') cases.push({ folder: words[0], demand: words[1], valid: words[2], refusal: words[3], expectations: [] });
  if (kind === 'expectation') found.expectations.push({ says: words[0], outputs: [] });
  if (kind === 'output') found.expectations.at(-1).outputs.push({ type: words[0], shape: words[1], expected: words[2], allowed: words[3], alternatives: new Map() });
  if (kind === 'alternatives') {
    const { alternatives } = found.expectations.at(-1).outputs.at(-1);
    for (const word of words) alternatives.set(Number(word.split(':')[0]), word.split(':')[1].split(','));
  }
}
for (const found of cases) console.log(`${found.folder}\t${judge(found, goldens, outputs)}`);
