// What pages do better with their script: portal/page/assets/page.js. That all goes without it is in
// stories.mjs.
import assert from 'node:assert/strict';
import { Signer } from './hands.mjs';
import { phoneThat, somebody } from './people.mjs';

const isNews = (request) => request.headers().accept === 'application/json';

export const scenes = {
  async 'a page that waits while the server is away'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor(), anna);
    await one.open(made.links[0]);
    await one.fillLogin({ way: 'sim', phone: phoneThat('504') });
    await one.hand.press(one.button(one.loginForm));
    await one.seeCode();
    const live = one.page.locator('#live');
    assert.equal(await live.textContent(), '', 'said before anything has happened');
    await one.page.route('**/sign/login', (route) => (isNews(route.request()) ? route.abort() : route.continue()));
    await live.filter({ hasText: await live.getAttribute('data-lost') }).waitFor();
    await one.page.unroute('**/sign/login');
    await live.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
    await one.seeCode();
    scene.saw('it was said in the live region, without the page being left, and taken back when the server was there again');
  },

  async 'fields that belong to another choice'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor(), anna);
    await one.open(made.links[0]);
    const [kennitala, phone] = [one.loginForm.locator('[name=kennitala]'), one.loginForm.locator('[name=phone]')];
    const shown = async () => [await kennitala.isVisible(), await phone.isVisible()];
    assert.deepEqual(await shown(), [true, false]);
    await one.loginForm.locator('[value=sim]').check();
    assert.deepEqual(await shown(), [false, true]);
    assert.ok(await kennitala.isDisabled(), 'what is hidden is not sent');
    await one.loginForm.locator('[value=app]').check();
    assert.deepEqual(await shown(), [true, false]);
    scene.saw('the kennitala with the app, the number with the SIM card');
  },

  async 'a picture that is not ready'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor({ expected: ['status 503'] }), anna);
    let refused = 0;
    await one.page.route('**/pages/1/*', async (route) => {
      if (refused === 2) return route.continue();
      refused++;
      const body = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>';
      return route.fulfill({ status: 503, contentType: 'image/svg+xml', body });
    });
    await one.open(made.links[0]);
    await one.logIn();
    await one.read();
    assert.equal(refused, 2);
    scene.saw('it was asked for again until it was there');
  },
};
