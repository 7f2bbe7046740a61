// Receives webhooks at http://127.0.0.1:PORT/hooks and prints what happened:
//
//     PORT=9000 WEBHOOK_SECRET=… node webhook.ts
//
// WEBHOOK_SECRET is the secret of the subscription. Node 22.18 or later runs it as it stands; for
// earlier ones tsc makes JavaScript of it.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";

interface Event {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

const secret = Buffer.from(process.env["WEBHOOK_SECRET"] ?? "", "hex");
const handled = new Set<string>(); // of webhook-ids; a program for production keeps them with what they led to

function verifies(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const header = (name: string) => String(headers[name] ?? "");
  const id = header("webhook-id");
  const sent = header("webhook-timestamp");
  if (!/^[!-~]+$/.test(id) || id.includes(".") || !/^[1-9][0-9]*$/.test(sent)) return false;
  if (Math.abs(Date.now() / 1000 - Number(sent)) > 300) return false;
  const mac = createHmac("sha256", secret).update(`${id}.${sent}.`).update(body).digest("base64");
  const right = Buffer.from("v1," + mac);
  return header("webhook-signature")
    .split(" ")
    .map((text) => Buffer.from(text))
    .some((signature) => signature.length === right.length && timingSafeEqual(signature, right));
}

function judge(headers: IncomingHttpHeaders, body: Buffer): number {
  if (!verifies(headers, body)) return 401; // before anything else
  const id = String(headers["webhook-id"]);
  if (!handled.has(id)) {
    const event = JSON.parse(body.toString()) as Event;
    if (event.type !== "webhook.ping") console.log(event.type, JSON.stringify(event.data));
    handled.add(id);
  }
  return 204;
}

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    if ((size += piece.length) > 1 << 20) return void request.destroy();
    pieces.push(piece);
  }
  const here = request.method === "POST" && request.url === "/hooks";
  response.writeHead(here ? judge(request.headers, Buffer.concat(pieces)) : 404).end();
});
server.requestTimeout = 15_000;
server.listen(Number(process.env["PORT"]), "127.0.0.1");
