// The worker for ONNX Runtime in JavaScript: the npm packages onnxruntime-node and onnxruntime-web (WebAssembly).
// It takes the package.json of either package:
//     node onnxruntime_js_worker.mjs node_modules/onnxruntime-web/package.json

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import {
  asBytes, asElements, joinStrings, notTensor, serve, splitStrings, Unsupported, WorkerFault,
} from "./worker_protocol.mjs";

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

function decodeStrings(data) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return splitStrings(data).map((each) => decoder.decode(each));
  } catch {
    throw new Unsupported("strings of JavaScript are Unicode, not bytes");
  }
}

// Sessions of one package.
class Worker {
  constructor(description, { optimization = "all", ...unknown }) {
    if (!(optimization in LEVELS) || Object.keys(unknown).length) {
      throw new Error(`options that this worker does not know: ${JSON.stringify({ optimization, ...unknown })}`);
    }
    this.package = JSON.parse(readFileSync(description, "utf8"));
    this.ort = createRequire(description)(dirname(description));
    this.ort.env.logLevel = "fatal";
    this.ort.env.wasm.numThreads = 1;
    const executionProviders = [this.package.name === "onnxruntime-web" ? "wasm" : "cpu"];
    const graphOptimizationLevel = LEVELS[optimization];
    this.settings = { executionProviders, graphOptimizationLevel, logSeverityLevel: 4, interOpNumThreads: 1 };
  }

  hello() {
    const { name, version } = this.package;
    return {
      runtime: { name, version },
      domains: { "*": "onnx" },
      forms: ["inputs", "initializers", "dynamic", "strided", "again", "threads"],
      devices: ["CPU"],
      threads: name === "onnxruntime-web" ? THREADS.slice(0, 1) : THREADS,
      element_types: [...TYPES.keys()],
      x_settings: this.settings,
    };
  }

  load(request, blobs) {
    const model = blobs[request.onnx];
    if (model === undefined) throw new WorkerFault("no ONNX model in the request");
    const settings = { ...this.settings, intraOpNumThreads: request.threads ?? THREADS[0] };
    return this.ort.InferenceSession.create(model, settings);
  }

  async run(session, inputs) {
    const feeds = Object.fromEntries(inputs.map((each) => [each.name, this.toTensor(each)]));
    const begin = performance.now();
    const returned = await session.run(feeds);
    const seconds = (performance.now() - begin) / 1000;
    return { seconds, outputs: session.outputNames.map((name) => fromTensor(returned[name])) };
  }

  unload(session) {
    return session.release();
  }

  toTensor({ element_type: name, shape, data }) {
    const known = TYPES.get(name);
    if (known === undefined) throw new WorkerFault(`no tensor: ${name}`);
    const [theirs, Elements] = known;
    return new this.ort.Tensor(theirs, Elements === null ? decodeStrings(data) : asElements(data, Elements), shape);
  }
}

function fromTensor(value) {
  const name = NAMES.get(value?.type);
  if (name === undefined || !("dims" in value)) return notTensor(value, value?.type);
  const data = name === "string" ? joinStrings(value.data) : asBytes(value.data);
  return { element_type: name, shape: [...value.dims], data };
}

await serve((options) => new Worker(process.argv[2], options));
