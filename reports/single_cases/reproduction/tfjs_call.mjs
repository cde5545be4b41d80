// Makes calls of one TensorFlow operator on TensorFlow.js: node tfjs_call.mjs ASKED.json TOLD.json
// The package is found from where this is started, or in NODE_PATH.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { execute, fromTensor, graphOf, toTensor } from "./tfjs_graphs.mjs";
import { Unsupported } from "./worker_protocol.mjs";

const [asked, told] = process.argv.slice(2);
const { load, calls } = JSON.parse(readFileSync(asked, "utf8"));

async function call(tf) {
  await tf.setBackend("cpu");
  const { artifacts, places, wanted } = graphOf(load);
  const model = await tf.loadGraphModel(tf.io.fromMemory(artifacts));
  const answers = [];
  for (const inputs of calls) {
    const feeds = {};
    for (const each of inputs) {
      feeds[places.get(each.name)[0]] = toTensor(tf, { ...each, data: Buffer.from(each.data, "base64") });
    }
    const returned = [await execute(model, feeds, wanted)].flat();
    const outputs = await Promise.all(returned.map((each) => fromTensor(tf, each)));
    answers.push(outputs.map((each) => (each.data ? { ...each, data: Buffer.from(each.data).toString("base64") } : each)));
  }
  return { answers };
}

function load_package() {
  try {
    return createRequire(join(process.cwd(), "any.js"))("@tensorflow/tfjs");
  } catch (error) {
    return error;
  }
}

// The error as the worker tells it, so that the same rules say what is not offered.
function told_of(error) {
  if (error instanceof Unsupported) return { absent: error.message };
  return { kind: error?.constructor?.name ?? typeof error, error: String(error?.message ?? error) };
}

const tell = (said) => writeFileSync(told, JSON.stringify(said));
const tf = load_package();
if (tf instanceof Error) {
  tell({ absent: tf.message });
} else {
  tell({ begun: true });
  tell(await call(tf).catch(told_of));
}
