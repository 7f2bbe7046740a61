// A client that is no browser: it sends what it is told, cookies and all, and follows nothing.
import assert from 'node:assert/strict';
import { request } from 'node:http';

// send makes a request, whose path goes out as it is.
export function send(base, path, { method = 'GET', headers = {}, body } = {}) {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const options = { host: hostname === 'localhost' ? '127.0.0.1' : hostname, port, path, method };
    const sent = request({ ...options, headers: { Host: `${hostname}:${port}`, ...headers } }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part)).on('error', reject).on('end', () => {
        resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

// form is a request with the fields of a form, as the page itself sends it.
export function form(base, fields, headers = {}) {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: base, 'Sec-Fetch-Site': 'same-origin', ...headers },
    body: new URLSearchParams(fields).toString(),
  };
}

// cookiesOf are those of a visitor, as a header.
export async function cookiesOf(page) {
  const cookies = await page.context().cookies();
  assert.ok(cookies.some(({ name }) => name === '__Host-innsigli'), 'there is a session');
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
