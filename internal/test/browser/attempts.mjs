// What attackers try, and what they see.
import assert from 'node:assert/strict';
import { Attacker } from './attacker.mjs';
import { cookiesOf, form, send } from './client.mjs';
import { Signer } from './hands.mjs';
import { somebody } from './people.mjs';
import { arrives, countSignatures } from './stories.mjs';

// inside are a process and somebody who has logged in to it.
async function inside(scene, options) {
  const anna = somebody();
  const made = await scene.invite([anna, somebody('Jón Þór Árnason')]);
  return { made, one: await arrives(scene, anna, options) };
}

// untouched wants that nobody has answered.
async function untouched(scene, made) {
  const { status, participants } = await scene.state(made.id);
  assert.deepEqual([status, ...participants.map((one) => one.status)], ['Waiting', 'Waiting', 'Waiting']);
}

export const scenes = {
  async 'stolen cookie after logout'(scene) {
    const { one } = await inside(scene);
    const Cookie = await cookiesOf(one.page);
    const paths = ['', '/document', '/decline', '/pages/1/640?revision=0'].map((rest) => one.place + rest);
    const before = await Promise.all(paths.map((path) => send(scene.base, path, { headers: { Cookie } })));
    assert.deepEqual(before.map(({ status }) => status), [200, 200, 200, 200], 'the cookie is good before');
    await one.logOut();
    for (const path of paths) {
      const { status, text, headers } = await send(scene.base, path, { headers: { Cookie } });
      assert.ok(!text.includes('Samningur') && !/pdf|image/.test(headers['content-type']), `${path}: ${status}`);
    }
    const posted = await send(scene.base, `${one.place}/decline`, form(scene.base, { reason: 'Nei.' }, { Cookie }));
    await untouchedBy(scene, one);
    scene.saw(`the page, the file, a picture and a form with the cookie: nothing of the document; declining: ${posted.status}`);
  },

  // The attacker's page is on the same host, so that cookies come along, and on another.
  async 'requests of another origin'(scene) {
    const attacker = await Attacker.attack(scene);
    const { made, one } = await inside(scene, { expected: attacker.origins });
    const targets = {
      '/decline': [`${one.place}/decline`, { reason: 'Nei.' }],
      '/sign': [`${one.place}/sign`, { method: 'IdpApp', revision: '0' }],
      '/logout': ['/sign/logout', {}],
      '/login': [`${new URL(made.links[1]).pathname}/login`, { way: 'app', kennitala: one.who.kennitala }],
    };
    for (const origin of attacker.origins) {
      for (const [name, [path, fields]] of Object.entries(targets)) {
        const inputs = Object.entries(fields).map(([key, value]) => `<input name="${key}" value="${value}">`);
        attacker.show(name, `<form method="post" action="${scene.base}${path}">${inputs.join('')}<button>Win a prize</button></form>`);
        const page = await scene.tab(one.page);
        await page.goto(origin + name);
        const answer = page.waitForResponse((response) => response.url().startsWith(scene.base));
        await page.getByRole('button').click();
        assert.equal((await answer).status(), 403, `${name} of ${origin}`);
        await page.close();
      }
    }
    await untouched(scene, made);
    await one.open(one.place);
    await one.pictures.first().waitFor(); // still logged in
    scene.saw('declining, signing, logging out and logging in by forms of another port and another host: 403 each, and nothing changed');
  },

  async 'framed page'(scene) {
    const attacker = await Attacker.attack(scene);
    const expected = [...attacker.origins, 'frame-ancestors'];
    const { made, one } = await inside(scene, { expected });
    attacker.show('/', `<iframe src="${scene.base}${one.place}"></iframe><iframe src="${made.links[1]}"></iframe>`);
    const seen = [];
    for (const origin of attacker.origins) {
      const page = await scene.tab(one.page);
      await page.goto(`${origin}/`, { waitUntil: 'load' });
      for (const frame of page.frames().slice(1)) {
        await frame.waitForURL(/^chrome-error:/, { waitUntil: 'commit' }).catch(() => {}); // told below
        const text = await frame.locator('body').innerText().catch(() => '');
        assert.ok(!/Leigusamningur|Samningur/.test(text), `a frame shows ${text}`);
        seen.push(frame.url().split(':')[0]);
      }
      await page.close();
    }
    assert.deepEqual(seen, Array(4).fill('chrome-error'));
    scene.saw('the page and a link in frames of another port and another host: the browser shows neither');
  },

  // A page that somebody goes on from to elsewhere. Links of that kind are not on the page: the scene
  // puts one there.
  async 'token in the Referer'(scene) {
    const attacker = await Attacker.attack(scene);
    attacker.show('/elsewhere', 'Elsewhere');
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor({ expected: attacker.origins }), anna);
    for (const origin of attacker.origins) {
      await one.open(made.links[0]);
      await one.page.evaluate((to) => {
        const link = document.createElement('a');
        Object.assign(link, { href: to, textContent: 'Elsewhere' });
        document.querySelector('main').prepend(link);
      }, `${origin}/elsewhere`);
      await one.page.getByRole('link', { name: 'Elsewhere' }).click();
      await one.page.waitForURL(`${origin}/elsewhere`);
    }
    const came = attacker.heard.filter(({ path }) => path === '/elsewhere');
    assert.deepEqual(came.map(({ headers }) => headers.referer), [undefined, undefined]);
    const token = new URL(made.links[0]).pathname.split('/')[2];
    assert.ok(!JSON.stringify(attacker.heard).includes(token), 'the token is heard elsewhere');
    scene.saw('two sites that were gone to from the link: no Referer, and no token in any header');
  },

  async "another person's electronic ID on a pinned place"(scene) {
    const [anna, thief] = [somebody(), somebody('Þjófur Þjófsson')];
    const made = await scene.invite([{ ...anna, pinned: true }, somebody('Jón Þór Árnason')]);
    const one = new Signer(scene, await scene.visitor(), thief);
    await one.open(made.links[0]);
    await one.fillLogin();
    const [refused] = await Promise.all([
      one.page.waitForResponse((response) => response.status() === 403),
      one.hand.press(one.button(one.loginForm)),
    ]);
    await one.heading.waitFor();
    const said = await one.page.locator('main').innerText();
    for (const secret of [anna.kennitala, anna.kennitala.slice(0, 6), 'Samningur']) assert.ok(!said.includes(secret), said);
    await untouched(scene, made);
    const owner = new Signer(scene, await scene.visitor(), anna);
    await owner.open(made.links[0]);
    await owner.logIn();
    await owner.read();
    scene.saw(`refused with ${refused.status()}: “${said.split('\n')[0]}”; the link still leads its owner on`);
  },

  // What was sent once is sent again, by whoever saw it.
  async 'replayed form'(scene) {
    const { made, one } = await inside(scene);
    const [sent] = await Promise.all([
      one.page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/sign')),
      one.askToSign(),
    ]);
    await one.landed();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: scene.base, 'Sec-Fetch-Site': 'same-origin' };
    const replay = { method: 'POST', body: sent.postData(), headers };
    const stranger = await send(scene.base, `${one.place}/sign`, replay);
    const Cookie = await cookiesOf(one.page);
    const again = await send(scene.base, `${one.place}/sign`, { ...replay, headers: { ...headers, Cookie } });
    const decline = await send(scene.base, `${one.place}/decline`, form(scene.base, { reason: 'Nei.' }, { Cookie }));
    const login = await send(scene.base, `${new URL(made.links[0]).pathname}/login`, form(scene.base, { way: 'app', kennitala: somebody().kennitala }));
    const { status, participants } = await scene.state(made.id);
    assert.deepEqual([status, participants[0].status], ['Waiting', 'Completed']);
    assert.equal(countSignatures(await scene.document(made.id)), 1);
    const statuses = [stranger, again, decline, login].map((answer) => answer.status);
    assert.ok(statuses.every((one) => one < 500), `${statuses}`);
    scene.saw(`signing again without a cookie and with it, declining after it, the login of a used link: ${statuses.join(', ')}; one signature`);
  },
};

async function untouchedBy(scene, signer) {
  await untouched(scene, { id: signer.place.split('/')[2] });
}
