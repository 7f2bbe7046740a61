// Somebody logs in at a provider, whose pages are of another origin, and of another site.
import assert from 'node:assert/strict';
import { Signer } from './hands.mjs';
import { inspect } from './inspect.mjs';
import { local } from './people.mjs';

// people are the one who logs in at the provider, and an address to invite them by.
const personOf = (scene, n) => ({ email: `provider${n}@example.is`, ...scene.settings.person });

// crosses logs in, and returns the pages that the browser asked for on the way.
async function crosses(one) {
  const asked = [];
  const note = (request) => {
    if (request.isNavigationRequest()) asked.push(new URL(request.url()));
  };
  one.page.on('request', note);
  const browser = one.loginForm.locator('input[type="radio"][name="way"][value="browser"]');
  if (await browser.count()) await one.hand.choose(browser); // else it is the only way
  await one.hand.press(one.button(one.loginForm));
  await one.arrive();
  one.page.off('request', note);
  return asked;
}

// atTheProvider is the story from the link to the document.
async function atTheProvider(scene, n, options) {
  const { provider, base, person } = scene.settings;
  assert.notEqual(new URL(provider).hostname, new URL(base).hostname, 'the provider is of another site');
  const who = personOf(scene, n);
  const made = await scene.invite([{ ...who, pinned: true }]);
  const one = new Signer(scene, await scene.visitor({ expected: [provider, 'status 502'], ...options }), who);
  await one.open(made.links[0]);
  const before = await one.page.context().cookies(base);
  assert.deepEqual(before, [], 'cookies before the login');
  const asked = await crosses(one);
  const there = asked.filter(({ origin }) => origin === provider);
  assert.ok(there.length > 0, `it does not go to ${provider}: ${asked}`);
  assert.ok(asked.some(({ origin, pathname }) => origin === base && pathname === '/sign/back'), `it does not come back: ${asked}`);
  for (const { href } of there) {
    for (const secret of [new URL(made.links[0]).pathname.split('/')[2], made.id]) assert.ok(!href.includes(secret), href);
  }
  const [cookie] = (await one.page.context().cookies(base)).filter(({ name }) => name === '__Host-innsigli');
  assert.deepEqual([cookie.sameSite, cookie.secure, cookie.httpOnly], ['Lax', true, true]);
  await one.read();
  const text = await one.page.locator('main').innerText();
  assert.ok(text.includes(local(person.kennitala)), `who has logged in is in ${text}`);
  await one.page.goBack();
  await one.page.waitForURL((url) => url.origin === base || url.protocol === 'about:');
  await one.open(one.place);
  await one.read();
  scene.saw(`from the link to ${there.length} addresses of the provider's and back to the document; going back does no harm`);
  return one;
}

export const scenes = {
  async "on a provider's pages, and when it does not answer"(scene) {
    const one = await atTheProvider(scene, 1);
    await one.askToSign({ method: 'IdpApp' });
    await one.warning.first().waitFor();
    await inspect(scene, one.page, 'signature for which the provider does not answer');
    await one.logOut();
    const again = await scene.invite([personOf(scene, 3)]);
    await one.open(again.links[0]);
    await one.fillLogin();
    await one.hand.press(one.button(one.loginForm));
    await one.ended();
    await inspect(scene, one.page, 'login for which the provider does not answer');
  },

  async "on a provider's pages, without JavaScript"(scene) {
    await atTheProvider(scene, 2, { javaScriptEnabled: false });
  },
};
