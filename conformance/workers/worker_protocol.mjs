// The worker's side of the worker protocol (docs/reference.md), for workers in JavaScript: Node.js 18 and nothing else.
// A worker script lies beside this file and ends with `await serve(start)`. `start`, called once with the options that
// the caller wrote, returns (or promises) an object with these methods, of which each but `hello` may return a promise:
//     hello()               its part of the answer: `runtime` (name, version), `domains`, `forms`, and what it adds
//     load(request, blobs)  prepares a model; what it returns is handed to the others
//     run(model, inputs)    { outputs, seconds }; an input is { name, element_type, shape, data }, and so is an output,
//                           or else what `notTensor` makes of something that is no tensor
//     unload(model)
// What it throws is the runtime's refusal (Unsupported: `unsupported`); WorkerFault is the worker's own mistake.

import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { machine, release } from "node:os";

const PROTOCOL = 1;
const MAX_HEADER = 16 << 20;
const MAX_MESSAGE = 4096;
const REQUESTS = new Set(["hello", "load", "run", "unload", "shutdown"]);

class BrokenFrame extends Error {}
export class WorkerFault extends Error {}
export class Unsupported extends Error {}

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

// The strings of a tensor's data, each as its bytes; and data of such bytes or of texts.
export function splitStrings(data) {
  const found = [];
  for (let offset = 0; offset < data.length; ) {
    const end = offset + 4 + data.readUInt32LE(offset);
    found.push(data.subarray(offset + 4, end));
    offset = end;
  }
  return found;
}

export const joinStrings = (strings) => Buffer.concat(strings.map((each) => withLength(Buffer.from(each))));

// The bytes of a tensor in an array of their own, which `Elements` takes them for.
export function asElements(data, Elements) {
  return new Elements(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
}

export const asBytes = (elements) => Buffer.from(elements.buffer, elements.byteOffset, elements.byteLength);

export function notTensor(value, kind) {
  return { not_a_tensor: kind ?? typeof value, text: String(value).slice(0, 200) };
}

// The state of one worker: its models, by the numbers that the harness gave them, and whether it was told to go.
class Session {
  constructor(start) {
    this.start = start;
    this.models = new Map();
    this.open = true;
  }

  async hello(header) {
    if (header.protocol !== PROTOCOL) {
      throw new WorkerFault(`protocol ${header.protocol} is not spoken here; ${PROTOCOL} is`);
    }
    this.worker = await this.start(header.options ?? {});
    const platform = { system: process.platform, release: release(), machine: machine(), node: process.version };
    return [{ type: "hello", protocol: PROTOCOL, platform, ...this.worker.hello() }];
  }

  async load(header, blobs) {
    if (!Number.isInteger(header.model)) throw new WorkerFault("a load request without a model's number");
    const begin = performance.now();
    this.models.set(header.model, await this.worker.load(header, blobs));
    return [{ type: "loaded", seconds: (performance.now() - begin) / 1000 }];
  }

  async run(header, blobs) {
    if (!this.models.has(header.model)) throw new WorkerFault(`model ${header.model} is not loaded`);
    if (!Array.isArray(header.inputs)) throw new WorkerFault("a run request without inputs");
    const inputs = header.inputs.map((each) => ({ ...each, data: blobs[each.blob] }));
    const missing = inputs.find((each) => each.data === undefined);
    if (missing !== undefined) throw new WorkerFault(`no blob ${missing.blob}`);
    const { outputs, seconds } = await this.worker.run(this.models.get(header.model), inputs);
    const out = [];
    const described = outputs.map(({ data, ...rest }) => (data ? { ...rest, blob: out.push(data) - 1 } : rest));
    return [{ type: "outputs", seconds, outputs: described }, out];
  }

  async unload(header) {
    if (!Number.isInteger(header.model)) throw new WorkerFault("an unload request without a model's number");
    if (this.models.has(header.model)) await this.worker.unload(this.models.get(header.model));
    this.models.delete(header.model);
    return [{ type: "unloaded" }];
  }

  shutdown() {
    this.open = false;
    return [{ type: "bye" }];
  }
}

function describeError(error) {
  const text = String(error?.message ?? error);
  const short = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1003)}...${text.slice(-1000)}` : text;
  const known = new Map([[Unsupported, "unsupported"], [WorkerFault, "internal"], [BrokenFrame, "internal"]]);
  const kind = error?.constructor;
  return { type: "error", class: known.get(kind) ?? "rejected", kind: kind?.name ?? typeof error, message: short };
}

async function answer(session, { header, blobs }) {
  try {
    if (!REQUESTS.has(header.type)) throw new WorkerFault(`unknown request type ${JSON.stringify(header.type)}`);
    if (session.worker === undefined && header.type !== "hello") throw new WorkerFault("no hello yet");
    return await session[header.type](header, blobs);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error; // its memory is in no state to go on with
    return [describeError(error)];
  }
}

// Answers requests until the harness shuts the worker down; ends the process.
export async function serve(start) {
  const { incoming, outgoing } = takeStandardStreams();
  let status = 0;
  try {
    const session = new Session(start);
    for (let frame = readFrame(incoming); frame !== null; frame = session.open ? readFrame(incoming) : null) {
      const [reply, out] = await answer(session, frame);
      writeFrame(outgoing, { ...reply, id: frame.header.id ?? null }, out);
    }
  } catch (error) {
    status = 3;
    console.error(error);
    if (error instanceof BrokenFrame) writeFrame(outgoing, { ...describeError(error), id: null });
  }
  process.exit(status);
}
