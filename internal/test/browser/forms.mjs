// What people and attackers write into forms, names and addresses.
import assert from 'node:assert/strict';
import { cookiesOf, form, send } from './client.mjs';
import { Signer } from './hands.mjs';
import { phoneThat, somebody } from './people.mjs';
import { arrives } from './stories.mjs';

// html are names that would be more than text if the page let them. A file's has no slash.
const html = {
  name: '</title><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}',
  fileName: '"><img src=x onerror=alert(1)><b id=injected>&amp;.pdf',
  reason: '</textarea><script>alert(1)</script><svg onload=alert(1)>',
};

// innocent wants nothing on a page that came of a name.
async function innocent(page) {
  assert.equal(await page.locator('main script, main [onerror], main [onload], #injected, img[src="x"]').count(), 0, page.url());
}

export const scenes = {
  async 'oversized reason'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = await arrives(scene, anna);
    const Cookie = await cookiesOf(one.page);
    await one.open(`${one.place}/decline`);
    await one.page.locator('[name="reason"]').evaluate((field) => field.removeAttribute('maxlength'));
    const long = `${'ð'.repeat(256)}😀`;
    await one.page.locator('[name="reason"]').fill(long);
    await one.hand.press(one.button(one.declineForm));
    await one.alert.first().waitFor();
    assert.equal(await one.page.locator('[name="reason"]').inputValue(), long, 'the reason is still there');
    const described = await one.page.locator('[name="reason"]').getAttribute('aria-describedby');
    assert.ok(described.split(' ').includes(await one.alert.first().getAttribute('id')), 'the fault belongs to the field');
    const huge = await send(scene.base, `${one.place}/decline`, form(scene.base, { reason: 'x'.repeat(1 << 20) }, { Cookie }));
    assert.ok([400, 413].includes(huge.status), `1 MiB: ${huge.status}`);
    assert.equal((await scene.state(made.id)).status, 'Waiting');
    const most = `${'ð'.repeat(255)}😀`;
    await one.open(one.place);
    await one.decline(most);
    const { participants } = await scene.state(made.id);
    assert.equal(participants[0].declineReason, most);
    scene.saw(`257 characters: said at the field, and kept there; 1 MiB: ${huge.status}; 256 characters are declined with`);
  },

  async 'HTML in names and file names'(scene) {
    const [anna, jon] = [somebody(html.name), somebody('<b id=injected>Jón</b>')];
    const made = await scene.invite([anna, jon], { fileName: html.fileName });
    const one = new Signer(scene, await scene.visitor(), anna);
    await one.open(made.links[0]);
    await innocent(one.page);
    assert.ok((await one.page.locator('main').innerText()).includes(html.fileName), 'the file name is text');
    await one.logIn();
    await one.read();
    await innocent(one.page);
    const text = await one.page.locator('body').innerText();
    for (const part of [html.fileName, jon.name]) assert.ok(text.includes(part), `${part} is text in ${text}`);
    assert.match(await one.download(made.id), /\.pdf$/i);
    await one.decline(html.reason);
    await innocent(one.page);
    assert.equal((await scene.state(made.id)).participants[0].declineReason, html.reason);
    const other = await arrives(scene, jon);
    await innocent(other.page);
    scene.saw('scripts, images and attributes in a name, a file name and a reason: each is text, no dialog opens, no element is there');
  },

  // Everywhere that an address could be taken from: the language, the way back, what is after the slash.
  async 'open redirects'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const link = new URL(made.links[0]).pathname;
    const paths = [
      `${link}?lang=en&to=https://evil.example`, `${link}?lang=https://evil.example`, `${link}?lang=en%0d%0aLocation:%20https://evil.example`,
      '//evil.example/sign/x?lang=en', '/sign//evil.example?lang=en', '/sign/%2f%2fevil.example?lang=en', '/sign/%5cevil.example?lang=en',
      '/sign/..//evil.example?lang=en', '/sign/https:%2f%2fevil.example/x?lang=en',
      '/sign/back?redirect_uri=https://evil.example&state=x&code=y', '/sign/back?to=//evil.example', '/sign/login?to=https://evil.example',
      '/sign/goodbye?lang=en&next=//evil.example', `${link}?back=https://evil.example`,
    ];
    const statuses = [];
    for (const path of paths) {
      const { status, headers, text } = await send(scene.base, path);
      const to = headers.location;
      if (to) assert.equal(new URL(to, scene.base + '/sign/').origin, scene.base, `${path} leads to ${to}`);
      assert.ok(!/(href|action|content|src)="[^"]*(\/\/|url=)evil/i.test(text), `${path}: a link in ${text}`);
      assert.ok(status < 500, `${path}: ${status}`);
      statuses.push(status);
    }
    const posted = await send(scene.base, `${link}/login`, form(scene.base, { way: 'app', kennitala: '', to: 'https://evil.example' }));
    assert.ok(!posted.headers.location || new URL(posted.headers.location, scene.base).origin === scene.base);
    scene.saw(`${paths.length} addresses (${statuses.join(', ')}) and a form: none leads elsewhere`);
  },

  // What is wrong is said where it is wrong, and what was written stays.
  async 'faults in the login form'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor({ javaScriptEnabled: false }), anna);
    await one.open(made.links[0]);
    for (const wrong of [{ kennitala: '1234' }, { kennitala: `${anna.kennitala.slice(0, 8)}x9` }, { way: 'sim', phone: '12' }]) {
      await one.fillLogin(wrong);
      await one.loginForm.evaluate((element) => { element.noValidate = true; });
      await one.hand.press(one.button(one.loginForm));
      await one.alert.first().waitFor();
      const field = one.loginForm.locator(wrong.way ? 'input[name="phone"]' : 'input[name="kennitala"]');
      assert.equal(await field.inputValue(), wrong.way ? wrong.phone : wrong.kennitala, 'what was written');
      assert.equal(await field.getAttribute('aria-invalid'), 'true');
    }
    await one.fillLogin({ kennitala: `${anna.kennitala.slice(0, 6)}-${anna.kennitala.slice(6)}` });
    await one.hand.press(one.button(one.loginForm));
    await one.arrive();
    scene.saw('a short kennitala, one with a letter and a short phone number: said at the field; with a hyphen it is good');
  },

  // The phone says no. Each page has a sentence and a way on.
  async 'logins that come to nothing'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor(), anna);
    const said = [];
    for (const status of ['401', '105']) {
      await one.open(made.links[0]);
      await one.fillLogin({ way: 'sim', phone: phoneThat(status) });
      await one.hand.press(one.button(one.loginForm));
      await one.ended();
      said.push(`${status}: “${(await one.page.locator('main').innerText()).split('\n')[0]}”`);
      assert.ok(await one.page.locator('main').locator('a, button').count() > 0, 'a way on');
    }
    assert.equal((await scene.state(made.id)).participants[0].status, 'Waiting');
    await one.open(made.links[0]);
    await one.logIn();
    scene.saw(`${said.join('; ')}; then logged in`);
  },
};
