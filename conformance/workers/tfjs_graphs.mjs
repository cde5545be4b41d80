// Graphs of one TensorFlow operator, in the form in which TensorFlow.js's converter loads them.

import { asBytes, asElements, joinStrings, notTensor, splitStrings, Unsupported } from "./worker_protocol.mjs";

// Element types: as TensorFlow.js calls them, as TensorFlow does, and the array that holds the elements.
export const TYPES = new Map([
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

// What TensorFlow.js loads for a call; by the name of each input its placeholder and its description, and the
// outputs to ask for.
export function graphOf({ operator, attributes, inputs, outputs }) {
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
  return { artifacts, places, wanted: outputs.map((_, at) => (at ? `${NODE}:${at}` : NODE)) };
}

// What a graph gives: of operators whose outputs have no known shape TensorFlow.js says that they are to be called
// another way.
export async function execute(model, feeds, wanted) {
  try {
    return model.execute(feeds, wanted);
  } catch (error) {
    if (!error.message?.includes("model.executeAsync()")) throw error;
    return model.executeAsync(feeds, wanted);
  }
}

export function toTensor(tf, { element_type: type, shape, data }) {
  const [theirs, , Elements] = typeOf(type);
  if (Elements === null) return tf.tensor(splitStrings(data), shape, theirs);
  const elements = asElements(data, Elements);
  if (type !== "complex64") return tf.tensor(elements, shape, theirs);
  const part = (at) => tf.tensor(elements.filter((_, place) => place % 2 === at), shape);
  return tf.tidy(() => tf.complex(part(0), part(1)));
}

export async function fromTensor(tf, value) {
  const name = NAMES.get(value?.dtype);
  if (name === undefined || !(value instanceof tf.Tensor)) return notTensor(value, value?.constructor?.name);
  const elements = await (name === "string" ? value.bytes() : value.data());
  const count = value.shape.reduce((product, extent) => product * extent, name === "complex64" ? 2 : 1);
  if (elements.length !== count) {
    return notTensor(`a tensor of shape [${value.shape}] that holds ${elements.length} elements`, "Tensor");
  }
  return { element_type: name, shape: [...value.shape], data: name === "string" ? joinStrings(elements) : asBytes(elements) };
}
