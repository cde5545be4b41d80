// The worker for TensorFlow.js: graphs of one TensorFlow operator, loaded by its converter, run by its kernels in
// JavaScript. It takes the package.json of the package:
//     node tfjs_worker.mjs node_modules/@tensorflow/tfjs/package.json

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { execute, fromTensor, graphOf, toTensor, TYPES } from "./tfjs_graphs.mjs";
import { serve, WorkerFault } from "./worker_protocol.mjs";

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

  async load(request) {
    const { artifacts, places, wanted } = graphOf(request);
    const model = await this.tf.loadGraphModel(this.tf.io.fromMemory(artifacts));
    return { model, places, wanted };
  }

  async run({ model, places, wanted }, inputs) {
    const feeds = Object.fromEntries(inputs.map((each) => [places.get(each.name)[0], toTensor(this.tf, each)]));
    const begin = performance.now();
    const returned = [await execute(model, feeds, wanted)].flat();
    const seconds = (performance.now() - begin) / 1000;
    const outputs = await Promise.all(returned.map((each) => fromTensor(this.tf, each)));
    this.tf.dispose([Object.values(feeds), returned]);
    return { seconds, outputs };
  }

  unload({ model }) {
    model.dispose();
  }
}

async function start(description, options) {
  if (Object.keys(options).length) throw new WorkerFault(`no option is known here: ${JSON.stringify(options)}`);
  const tf = createRequire(description)(dirname(description));
  if (!(await tf.setBackend("cpu"))) throw new Error("there is no backend cpu");
  return new Worker(tf, JSON.parse(readFileSync(description, "utf8")).version);
}

await serve((options) => start(process.argv[2], options));
