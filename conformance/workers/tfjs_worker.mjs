// The worker for TensorFlow.js: graphs of one TensorFlow operator, loaded by its converter, run by its kernels in
// JavaScript. It takes the package.json of the package:
//     node tfjs_worker.mjs node_modules/@tensorflow/tfjs/package.json

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import {
  asBytes, asElements, joinStrings, notTensor, serve, splitStrings, Unsupported, WorkerFault,
} from "./worker_protocol.mjs";

// Element types: as TensorFlow.js calls them, as TensorFlow does, and the array that holds the elements.
const TYPES = new Map([
  ["float", ["float32", "DT_FLOAT", Float32Array]],
  ["int32", ["int32", "DT_INT32", Int32Array]],
  ["bool", ["bool", "DT_BOOL", Uint8Array]],
  ["complex64", ["complex64", "DT_COMPLEX64", Float32Array]],
  ["string", ["string", "DT_STRING", null]],
]);
const NAMES = new Map([...TYPES].map(([ours, [theirs]]) => [theirs, ours]));
const NODE = "operator";

// A graph that TensorFlow writes has every attribute, a call need not: the defaults that TensorFlow.js does not know
// itself, and the attributes with the type of an input (by its place) that it asks for.
const DEFAULTS = {
  Conv2D: { dilations: { kind: "ints", value: [1, 1, 1, 1] } },
  Conv3D: { dilations: { kind: "ints", value: [1, 1, 1, 1, 1] } },
  CropAndResize: { method: { kind: "string", value: "bilinear" } },
  DepthToSpace: { data_format: { kind: "string", value: "NHWC" } },
  DepthwiseConv2dNative: { dilations: { kind: "ints", value: [1, 1, 1, 1] } },
  LeakyRelu: { alpha: { kind: "float", value: Math.fround(0.2) } },
  TopKV2: { sorted: { kind: "int", value: 1 } },
};
const TYPED = { Fill: ["T", 1], OneHot: ["T", 2], Range: ["Tidx", 0], ZerosLike: ["T", 0] };

function typeOf(name) {
  const known = TYPES.get(name);
  if (known === undefined) throw new Unsupported(`TensorFlow.js has no ${name}`);
  return known;
}

const asBase64 = (text) => Buffer.from(text, "utf8").toString("base64");

// An attribute as GraphDef has it in JSON. TensorFlow's booleans come as integers, so that an integer stands in both
// fields: TensorFlow.js reads that of the kind which the operator's attribute has.
function toAttribute({ kind, value }) {
  const several = kind.endsWith("s") && Array.isArray(value);
  const values = several ? value : [value];
  const fields = {
    int: () => ({ i: values, b: values.map((each) => each !== 0) }),
    float: () => ({ f: values.map(Number) }),
    string: () => ({ s: values.map(asBase64) }),
    type: () => ({ type: values.map((each) => typeOf(each.replace(/^tensor\((\w+)\)$/, "$1"))[1]) }),
  }[several ? kind.slice(0, -1) : kind]?.();
  if (fields === undefined) throw new Unsupported(`no attribute of TensorFlow.js is a ${kind}`);
  return several ? { list: fields } : Object.fromEntries(Object.entries(fields).map(([name, [only]]) => [name, only]));
}

function placeholder(name, { element_type: type, shape }) {
  const dim = shape.map((extent) => ({ size: String(extent ?? -1) }));
  return { name, op: "Placeholder", attr: { dtype: { type: typeOf(type)[1] }, shape: { shape: { dim } } } };
}

class Worker {
  constructor(tf, version) {
    this.tf = tf;
    this.version = version;
  }

  hello() {
    return {
      runtime: { name: "tfjs", version: this.version },
      domains: { "org.tensorflow": "node" },
      forms: ["inputs", "dynamic", "again"],
      devices: ["CPU"],
      element_types: [...TYPES.keys()],
      x_settings: { backend: this.tf.getBackend() },
    };
  }

  async load({ operator, attributes, inputs, outputs }) {
    const named = inputs.filter((each) => each !== null);
    const places = new Map(); // a tensor that is given twice has one name, and one node
    for (const each of named) if (!places.has(each.name)) places.set(each.name, [`x${places.size}`, each]);
    const given = named.map((each) => places.get(each.name)[0]);
    const [typed, at] = TYPED[operator.name] ?? [];
    const type = typed && inputs[at] ? { [typed]: { kind: "type", value: inputs[at].element_type } } : {};
    const full = Object.entries({ ...DEFAULTS[operator.name], ...type, ...attributes });
    const attr = Object.fromEntries(full.map(([name, each]) => [name, toAttribute(each)]));
    const node = [...places.values()].map(([name, each]) => placeholder(name, each));
    node.push({ name: NODE, op: operator.name, input: given, attr });
    const artifacts = {
      modelTopology: { node, versions: { producer: 1, minConsumer: 0 } },
      weightSpecs: [],
      weightData: new ArrayBuffer(0),
    };
    const model = await this.tf.loadGraphModel(this.tf.io.fromMemory(artifacts));
    return { model, places, wanted: outputs.map((_, at) => (at ? `${NODE}:${at}` : NODE)) };
  }

  async run({ model, places, wanted }, inputs) {
    const feeds = Object.fromEntries(inputs.map((each) => [places.get(each.name)[0], this.toTensor(each)]));
    const begin = performance.now();
    const returned = [await this.execute(model, feeds, wanted)].flat();
    const seconds = (performance.now() - begin) / 1000;
    const outputs = await Promise.all(returned.map((each) => this.fromTensor(each)));
    this.tf.dispose([Object.values(feeds), returned]);
    return { seconds, outputs };
  }

  async execute(model, feeds, wanted) {
    try {
      return model.execute(feeds, wanted);
    } catch (error) {
      // Of operators whose outputs have no known shape it says that they are to be called so.
      if (!error.message?.includes("model.executeAsync()")) throw error;
      return model.executeAsync(feeds, wanted);
    }
  }

  unload({ model }) {
    model.dispose();
  }

  toTensor({ element_type: type, shape, data }) {
    const [theirs, , Elements] = typeOf(type);
    if (Elements === null) return this.tf.tensor(splitStrings(data), shape, theirs);
    const elements = asElements(data, Elements);
    if (type !== "complex64") return this.tf.tensor(elements, shape, theirs);
    const part = (at) => this.tf.tensor(elements.filter((_, place) => place % 2 === at), shape);
    return this.tf.tidy(() => this.tf.complex(part(0), part(1)));
  }

  async fromTensor(value) {
    const name = NAMES.get(value?.dtype);
    if (name === undefined || !(value instanceof this.tf.Tensor)) return notTensor(value, value?.constructor?.name);
    const elements = await (name === "string" ? value.bytes() : value.data());
    const count = value.shape.reduce((product, extent) => product * extent, name === "complex64" ? 2 : 1);
    if (elements.length !== count) {
      return notTensor(`a tensor of shape [${value.shape}] that holds ${elements.length} elements`, "Tensor");
    }
    return { element_type: name, shape: [...value.shape], data: name === "string" ? joinStrings(elements) : asBytes(elements) };
  }
}

async function start(description, options) {
  if (Object.keys(options).length) throw new WorkerFault(`no option is known here: ${JSON.stringify(options)}`);
  const tf = createRequire(description)(dirname(description));
  if (!(await tf.setBackend("cpu"))) throw new Error("there is no backend cpu");
  return new Worker(tf, JSON.parse(readFileSync(description, "utf8")).version);
}

await serve((options) => start(process.argv[2], options));
