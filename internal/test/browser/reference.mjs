// Somebody reads the reference of a sandbox's API, gets a token and tries a call on the page.
import assert from 'node:assert/strict';
import { shoot } from './screenshots.mjs';

// authorize gets a token in the dialog, with the client's ID and secret.
async function authorize(page, { id, secret }) {
  await page.locator('button.btn.authorize').first().click();
  const dialog = page.locator('.auth-container').filter({ hasText: 'OAuth2' }).first();
  await dialog.locator('[data-name=clientId]').fill(id);
  await dialog.locator('[data-name=clientSecret]').fill(secret);
  await dialog.locator('button.authorize').click();
  await dialog.locator('button', { hasText: 'Logout' }).waitFor();
  await page.locator('.modal-ux .close-modal').click();
}

export const scenes = {
  async 'the reference of the API is read and tried'(scene) {
    const console = [];
    const page = await scene.visitor({ language: 'en' });
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) console.push(message.text()); });
    await page.goto('/reference');
    await page.locator('.opblock').first().waitFor();
    assert.equal(await page.title(), 'Innsigli API reference, Sandbox');
    assert.equal(await page.locator('.errors-wrapper').count(), 0, 'Swagger UI has something against the document');
    const described = await (await page.request.get('/openapi.json')).json();
    const operations = Object.values(described.paths).flatMap(Object.values).length + Object.keys(described.webhooks).length;
    assert.equal(await page.locator('.opblock').count(), operations, 'operations on the page');
    await shoot(page, 'reference', { size: 'wide' });
    await authorize(page, scene.settings.client);
    const operation = page.locator('.opblock').filter({ has: page.locator('[data-path="/api/v1/sandbox/users"]') }).filter({ hasText: 'POST' }).first();
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('button.execute').click();
    const answer = operation.locator('.live-responses-table');
    await answer.waitFor();
    const text = await answer.innerText();
    assert.match(text, /200[\s\S]*"fullName": "Jóna Jónsdóttir"/);
    await shoot(page, 'reference-tried', { size: 'wide', at: operation });
    assert.deepEqual(console, [], 'what the console says');
    scene.saw(`${operations} operations, a token, and a call that is answered 200`);
  },
};
