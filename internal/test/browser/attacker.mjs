// An attacker's server: pages of another origin, and who came there with what.
import { createServer } from 'node:http';
import { once } from 'node:events';

export class Attacker {
  heard = []; // requests: path and headers
  #pages = {};

  // attack starts a server for a scene.
  static async attack(scene) {
    const attacker = new Attacker();
    attacker.server = createServer((request, response) => {
      attacker.heard.push({ path: request.url, headers: request.headers });
      const page = attacker.#pages[request.url];
      response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(page);
    });
    attacker.server.listen(0, '127.0.0.1');
    await once(attacker.server, 'listening');
    scene.ends.push(() => attacker.server.closeAllConnections() ?? attacker.server.close());
    attacker.port = attacker.server.address().port;
    return attacker;
  }

  // origins are the same host on another port, whose requests carry cookies that are for the site;
  // and another site.
  get origins() { return [`http://localhost:${this.port}`, `http://127.0.0.1:${this.port}`]; }

  show(path, page) { this.#pages[path] = `<!DOCTYPE html><title>Attack</title>${page}`; }
}
