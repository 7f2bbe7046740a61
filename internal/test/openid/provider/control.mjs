// The test's side door: one JSON object in, one out.
import { json } from 'node:stream/consumers';

// control carries out orders, which are functions by the last part of the path.
export async function control(orders, req, res) {
  const order = orders[req.url.split('/').at(-1)];
  const done = await order?.(await json(req));
  res.writeHead(order ? 200 : 404, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(done ?? {}));
}
