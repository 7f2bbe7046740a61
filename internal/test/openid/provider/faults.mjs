// What goes wrong on the way, as planned by the test.
import { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export class Faults {
  #store;

  constructor(store) { this.#store = store; }

  plan(fault) { this.#store.add('fault', fault); }

  // next takes the first fault that is left for the endpoint.
  next(endpoint) {
    const [id, fault] = this.#store.entries('fault').find(([, f]) => f.endpoint === endpoint) ?? [];
    if (fault) this.#store.put('fault', id, fault.times > 1 ? { ...fault, times: fault.times - 1 } : undefined);
    return fault;
  }
}

// commit answers as the fault says. A request that is handled nevertheless has its answer lost.
export async function commit(fault, handle, req, res) {
  if (fault.handled) await handle(req, new ServerResponse(req));
  if (!fault.status) return req.socket.destroy();
  res.writeHead(fault.status, fault.header);
  if (!fault.slow) return res.end(fault.body);
  for (const byte of Buffer.from(fault.body)) {
    if (res.destroyed) return undefined;
    res.write(Buffer.of(byte));
    await sleep(fault.slow);
  }
  return res.end();
}
