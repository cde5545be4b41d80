// The worker for ONNX Runtime in JavaScript: the npm packages onnxruntime-node and onnxruntime-web (WebAssembly).
// It speaks the worker protocol (docs/reference.md) with what Node.js 18 brings, and takes the package.json of either package:
//     node onnxruntime_js_worker.mjs node_modules/onnxruntime-web/package.json

import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { machine, release } from "node:os";
import { dirname } from "node:path";

const PROTOCOL = 1;
const MAX_HEADER = 16 << 20;
const MAX_MESSAGE = 4096;
const REQUESTS = new Set(["hello", "load", "run", "unload", "shutdown"]);
const THREADS = [1, 2, 4]; // the first unless `load` asks for another
const LEVELS = { all: "all", none: "disabled", basic: "basic", extended: "extended" };

// Element types that the package calls as ONNX does, and the array that holds the bits; then the others.
const SAME = {
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array,
  uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, bool: Uint8Array, string: null,
};
const TYPES = new Map([
  ["float", ["float32", Float32Array]],
  ["double", ["float64", Float64Array]],
  ["float16", ["float16", globalThis.Float16Array ?? Uint16Array]],
  ...Object.entries(SAME).map(([name, array]) => [name, [name, array]]),
]);
const NAMES = new Map([...TYPES].map(([ours, [theirs]]) => [theirs, ours]));

class BrokenFrame extends Error {}
class WorkerFault extends Error {}
class Unsupported extends Error {}

// Descriptors 0 and 1 are kept for frames under other numbers; whatever the runtime prints goes to standard error.
function takeStandardStreams() {
  const incoming = openSync("/proc/self/fd/0", "r");
  const outgoing = openSync("/proc/self/fd/1", "w");
  closeSync(0);
  closeSync(1);
  if (openSync("/dev/null", "r") !== 0 || openSync("/proc/self/fd/2", "a") !== 1) {
    throw new Error("the standard streams cannot be put aside");
  }
  return { incoming, outgoing };
}

function allocate(count) {
  try {
    return Buffer.allocUnsafeSlow(count);
  } catch (error) {
    throw new BrokenFrame(`no room for ${count} bytes: ${error.message}`);
  }
}

// That many bytes, or fewer where the stream ends.
function readExactly(descriptor, count) {
  const buffer = allocate(count);
  let filled = 0;
  while (filled < count) {
    const got = readSync(descriptor, buffer, filled, Math.min(count - filled, 1 << 30), null);
    if (got === 0) break;
    filled += got;
  }
  return buffer.subarray(0, filled);
}

// The next frame as { header, blobs }, or null where the stream has ended.
function readFrame(descriptor) {
  const prefix = readExactly(descriptor, 4);
  if (prefix.length === 0) return null;
  if (prefix.length < 4) throw new BrokenFrame("the stream ends inside a frame's length");
  const length = prefix.readUInt32LE(0);
  if (length > MAX_HEADER) throw new BrokenFrame(`a header of ${length} bytes; at most ${MAX_HEADER} are allowed`);
  const raw = readExactly(descriptor, length);
  if (raw.length < length) throw new BrokenFrame("the stream ends inside a header");
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (error) {
    throw new BrokenFrame(`a header is not JSON: ${error.message}`);
  }
  if (Object.prototype.toString.call(header) !== "[object Object]") throw new BrokenFrame("a header is not an object");
  const lengths = header.blobs ?? [];
  if (!Array.isArray(lengths) || !lengths.every((each) => Number.isSafeInteger(each) && each >= 0)) {
    throw new BrokenFrame("`blobs` is not a list of lengths");
  }
  const blobs = lengths.map((each) => {
    const blob = readExactly(descriptor, each);
    if (blob.length < each) throw new BrokenFrame("the stream ends inside a blob");
    return blob;
  });
  return { header, blobs };
}

function withLength(raw) {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32LE(raw.length, 0);
  return Buffer.concat([prefix, raw]);
}

function writeFrame(descriptor, header, blobs = []) {
  const full = blobs.length ? { ...header, blobs: blobs.map((each) => each.length) } : header;
  for (const piece of [withLength(Buffer.from(JSON.stringify(full), "utf8")), ...blobs]) {
    for (let sent = 0; sent < piece.length; ) sent += writeSync(descriptor, piece, sent);
  }
}

function decodeStrings(blob) {
  const found = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let offset = 0; offset < blob.length; ) {
    const end = offset + 4 + blob.readUInt32LE(offset);
    try {
      found.push(decoder.decode(blob.subarray(offset + 4, end)));
    } catch {
      throw new Unsupported("strings of JavaScript are Unicode, not bytes");
    }
    offset = end;
  }
  return found;
}

const encodeStrings = (texts) => Buffer.concat(texts.map((each) => withLength(Buffer.from(each, "utf8"))));

// Sessions of one package, by the numbers that the harness gave them.
class Worker {
  constructor(description) {
    const require = createRequire(description);
    this.package = JSON.parse(readFileSync(description, "utf8"));
    this.ort = require(dirname(description));
    this.sessions = new Map();
    this.open = true;
  }

  hello(header) {
    if (header.protocol !== PROTOCOL) {
      throw new WorkerFault(`protocol ${header.protocol} is not spoken here; ${PROTOCOL} is`);
    }
    const { optimization = "all", ...unknown } = header.options ?? {};
    if (!(optimization in LEVELS) || Object.keys(unknown).length) {
      throw new Error(`options that this worker does not know: ${JSON.stringify(header.options)}`);
    }
    this.ort.env.logLevel = "fatal";
    this.ort.env.wasm.numThreads = 1;
    const { name, version } = this.package;
    const executionProviders = [name === "onnxruntime-web" ? "wasm" : "cpu"];
    const graphOptimizationLevel = LEVELS[optimization];
    this.settings = { executionProviders, graphOptimizationLevel, logSeverityLevel: 4, interOpNumThreads: 1 };
    const offer = {
      domains: { "*": "onnx" },
      forms: ["inputs", "initializers", "dynamic", "strided", "again", "threads"],
      devices: ["CPU"],
      threads: name === "onnxruntime-web" ? THREADS.slice(0, 1) : THREADS,
      element_types: [...TYPES.keys()],
      x_settings: this.settings,
      platform: { system: process.platform, release: release(), machine: machine(), node: process.version },
    };
    return [{ type: "hello", protocol: PROTOCOL, runtime: { name, version }, ...offer }];
  }

  async load(header, blobs) {
    if (!Number.isInteger(header.model)) throw new WorkerFault("a load request without a model's number");
    const model = blobs[header.onnx];
    if (model === undefined) throw new WorkerFault("no ONNX model in the request");
    const settings = { ...this.settings, intraOpNumThreads: header.threads ?? THREADS[0] };
    const begin = performance.now();
    this.sessions.set(header.model, await this.ort.InferenceSession.create(model, settings));
    return [{ type: "loaded", seconds: (performance.now() - begin) / 1000 }];
  }

  async run(header, blobs) {
    const session = this.sessions.get(header.model);
    if (session === undefined) throw new WorkerFault(`model ${header.model} is not loaded`);
    if (!Array.isArray(header.inputs)) throw new WorkerFault("a run request without inputs");
    const feeds = Object.fromEntries(header.inputs.map((each) => [each.name, this.toTensor(each, blobs)]));
    const begin = performance.now();
    const returned = await session.run(feeds);
    const seconds = (performance.now() - begin) / 1000;
    const out = [];
    const outputs = session.outputNames.map((name) => describe(returned[name], out));
    return [{ type: "outputs", seconds, outputs }, out];
  }

  async unload(header) {
    if (!Number.isInteger(header.model)) throw new WorkerFault("an unload request without a model's number");
    await this.sessions.get(header.model)?.release();
    this.sessions.delete(header.model);
    return [{ type: "unloaded" }];
  }

  shutdown() {
    this.open = false;
    return [{ type: "bye" }];
  }

  toTensor({ element_type: name, shape, blob }, blobs) {
    const known = TYPES.get(name);
    if (known === undefined || blobs[blob] === undefined) throw new WorkerFault(`no tensor: ${name}, blob ${blob}`);
    const [theirs, Elements] = known;
    const raw = blobs[blob];
    if (Elements === null) return new this.ort.Tensor(theirs, decodeStrings(raw), shape);
    const bytes = raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length);
    return new this.ort.Tensor(theirs, new Elements(bytes), shape);
  }
}

// An output as the protocol describes it; its bytes are put behind the blobs in `out`.
function describe(value, out) {
  const name = NAMES.get(value?.type);
  if (name === undefined || !("dims" in value)) {
    return { not_a_tensor: value?.type ?? typeof value, text: String(value).slice(0, 200) };
  }
  const { data } = value;
  out.push(name === "string" ? encodeStrings(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  return { element_type: name, shape: [...value.dims], blob: out.length - 1 };
}

function describeError(error) {
  const text = String(error?.message ?? error);
  const short = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1003)}...${text.slice(-1000)}` : text;
  const known = new Map([[Unsupported, "unsupported"], [WorkerFault, "internal"], [BrokenFrame, "internal"]]);
  const kind = error?.constructor;
  return { type: "error", class: known.get(kind) ?? "rejected", kind: kind?.name ?? typeof error, message: short };
}

async function answer(worker, { header, blobs }) {
  try {
    if (!REQUESTS.has(header.type)) throw new WorkerFault(`unknown request type ${JSON.stringify(header.type)}`);
    if (worker.settings === undefined && header.type !== "hello") throw new WorkerFault("no hello yet");
    return await worker[header.type](header, blobs);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error; // its memory is in no state to go on with
    return [describeError(error)];
  }
}

const { incoming, outgoing } = takeStandardStreams();
let status = 0;
try {
  const worker = new Worker(process.argv[2]);
  for (let frame = readFrame(incoming); frame !== null; frame = worker.open ? readFrame(incoming) : null) {
    const [reply, out] = await answer(worker, frame);
    writeFrame(outgoing, { ...reply, id: frame.header.id ?? null }, out);
  }
} catch (error) {
  status = 3;
  console.error(error);
  if (error instanceof BrokenFrame) writeFrame(outgoing, { ...describeError(error), id: null });
}
process.exit(status);
