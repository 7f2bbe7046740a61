// What people come for: they are invited by mail, log in, read, sign, and decline.
import assert from 'node:assert/strict';
import { finger, mouse, Signer } from './hands.mjs';
import { somebody } from './people.mjs';
import { once } from './steady.mjs';

const reason = 'Leigan er of há.';

// phone is a small one that is touched.
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };

// arrives has somebody open the link of their letter, log in and read.
export async function arrives(scene, who, options = {}) {
  const { hand = mouse, login, ...looks } = options;
  const signer = new Signer(scene, await scene.visitor(looks), who, hand);
  const [letter] = await scene.letters(who.email);
  await signer.open(scene.linkIn(letter));
  await signer.logIn(login);
  await signer.read();
  return signer;
}

// oneSignsOneDeclines is the story of a lease that is not made.
async function oneSignsOneDeclines(scene, options) {
  const [anna, jon] = [somebody(), somebody('Jón Þór Árnason')];
  const made = await scene.invite([anna, jon]);
  const first = await arrives(scene, anna, options);
  await first.sign();
  const second = await arrives(scene, jon, options);
  await second.decline(reason);
  const { status, participants } = await scene.state(made.id);
  assert.equal(status, 'Declined');
  assert.equal(participants[0].status, 'Completed');
  assert.deepEqual([participants[1].status, participants[1].declineReason], ['Declined', reason]);
  await first.open(first.place);
  assert.equal(await first.signForm.count() + await first.wayToDecline.count(), 0, 'ways on for who has signed');
  scene.saw('one has signed, the other has declined with a reason');
}

// allSign is the story of a document that is completed; the file is judged afterwards.
async function allSign(scene, options, people = [somebody(), somebody('Jón Þór Árnason')]) {
  const made = await scene.invite(people);
  const signers = [];
  for (const who of people) {
    signers.push(await arrives(scene, who, options));
    await signers.at(-1).sign();
  }
  assert.equal((await scene.state(made.id)).status, 'Completed');
  assert.equal(await signers.at(-1).download(made.id, signers.map(({ typed }) => typed)), 'Leigusamningur.pdf');
  scene.saw(`${people.length} signed, and the last one has the file`);
}

export const scenes = {
  async 'one signs, one declines'(scene) { await oneSignsOneDeclines(scene); },

  async 'one signs, one declines, without JavaScript'(scene) {
    await oneSignsOneDeclines(scene, { javaScriptEnabled: false });
  },

  async 'one signs, one declines, on a phone'(scene) { await oneSignsOneDeclines(scene, { ...phone, hand: finger }); },

  // A viewer reads before and after; who has signed comes back by the letter about it.
  async 'all sign, and come back later'(scene) {
    const [anna, jon, vala] = [somebody(), somebody('Jón Þór Árnason'), somebody('Vala Sigurðardóttir')];
    const made = await scene.invite([anna, jon, { ...vala, role: 'Viewer' }]);
    const viewer = await arrives(scene, vala);
    assert.equal(await viewer.signForm.count() + await viewer.wayToDecline.count(), 0, 'ways on for who reads');
    const first = await arrives(scene, anna, { login: { way: 'sim' } });
    await first.sign({ method: 'IdpSim', phone: anna.phone });
    await (await arrives(scene, jon)).sign();
    await viewer.open(viewer.place);
    await viewer.download(made.id, [anna.phone, jon.kennitala]);
    const letters = await scene.letters(anna.email, 2);
    const again = new Signer(scene, await scene.visitor(), anna);
    await again.open(scene.linkIn(letters[1]));
    assert.equal(await again.page.locator('.sheet').count(), 0, 'pages without a login');
    await again.logIn({ way: 'sim' });
    await again.download(made.id);
    scene.saw('two have signed; the viewer has the file, and so has who came by the second letter');
  },

  async 'all sign, without JavaScript'(scene) { await allSign(scene, { javaScriptEnabled: false }, [somebody()]); },

  // Mail programs open links before people do, some of them with all that a browser says of itself.
  async 'a scanner opens the link five times first'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const before = await scene.state(made.id);
    const scanners = [
      ['GET', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36'],
      ['HEAD', 'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2)'],
      ['GET', 'curl/8.5.0'], ['GET', 'python-requests/2.31'], ['GET', ''],
    ];
    for (const [method, agent] of scanners) {
      const answer = await fetch(made.links[0], { method, headers: { 'User-Agent': agent }, redirect: 'manual' });
      assert.equal(answer.status, 200, `${method} by ${agent}`);
      assert.equal(answer.headers.get('set-cookie'), null, `${method} by ${agent} sets a cookie`);
    }
    assert.deepEqual(await scene.state(made.id), before);
    await (await arrives(scene, anna)).sign();
    await scene.until(made.id, ({ status }) => status === 'Completed');
    scene.saw('GET and HEAD by five programs changed nothing; the link led its owner on');
  },

  // What is signed on the phone lands, whoever looks on.
  async 'the browser is closed right after the PIN'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const signer = await arrives(scene, anna);
    await signer.askToSign({ method: 'IdpSim', phone: anna.phone });
    const code = await signer.seeCode();
    await signer.page.context().close();
    await scene.until(made.id, ({ status }) => status === 'Completed');
    const again = new Signer(scene, await scene.visitor(), anna);
    await again.open(signer.place);
    await again.logIn();
    await again.landed();
    const when = code ? 'while the code was shown' : 'after the signature, for which this machine was too slow';
    scene.saw(`closed ${when}; the signature landed, and the page says so after a login`);
  },

  // Both tabs are of one browser: either may go on where the other is.
  async 'two tabs'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = new Signer(scene, await scene.visitor(), anna);
    const two = new Signer(scene, await scene.tab(one.page), anna);
    await one.open(made.links[0]);
    await two.open(made.links[0]);
    await one.logIn();
    await two.page.reload();
    await two.arrive();
    await two.read();
    await one.askToSign({ method: 'IdpSim', phone: anna.phone });
    const code = await one.seeCode();
    await two.askToSign();
    assert.ok([code, undefined].includes(await two.seeCode()), 'the code of the second tab');
    await Promise.all([one.landed(), two.landed()]);
    assert.equal(countSignatures(await scene.document(made.id)), 1);
    scene.saw('the second tab found the first one’s login and code; there is one signature');
  },

  // Who has logged in takes the place of another link with one click, and their own places need none.
  async 'a second document without a second login'(scene) {
    const anna = somebody();
    const first = await scene.invite([anna]);
    const second = await scene.invite([{ ...anna, pinned: true }]);
    const one = new Signer(scene, await scene.visitor(), anna);
    await one.open(first.links[0]);
    await one.logIn();
    await one.open(second.links[0]);
    assert.equal(await one.loginForm.locator('input[type="text"], input[type="tel"], input[type="radio"]').count(), 0, 'fields to fill in');
    await one.hand.press(one.button(one.loginForm));
    await one.arrive();
    assert.ok(one.place.includes(second.id), one.place);
    await one.read();
    await one.open(first.links[0]); // which was opened
    await one.arrive();
    assert.ok(one.place.includes(first.id), one.place);
    await one.read();
    scene.saw('the second link took one click; the first one leads straight on');
  },

  async "on the provider's own pages"(scene) {
    for (const javaScriptEnabled of [true, false]) {
      const anna = somebody();
      const made = await scene.invite([anna]);
      const one = new Signer(scene, await scene.visitor({ javaScriptEnabled }), anna);
      await one.open(made.links[0]);
      for (const cancels of [true, false]) {
        await mouse.choose(one.loginForm.locator('input[name="way"][value="browser"]'));
        await mouse.press(one.button(one.loginForm));
        await one.page.waitForURL(/\/simulated\/login/);
        if (cancels) {
          await one.page.getByRole('button', { name: 'Cancel' }).click();
          await one.page.waitForURL(/\/sign\//);
          await one.page.locator('main a.button.primary, main form[action$="/login"] button').first().waitFor();
          await one.open(made.links[0]);
        }
      }
      await one.page.getByLabel('Kennitala').fill(anna.kennitala);
      await one.page.getByRole('button', { name: 'Log in' }).click();
      await one.arrive();
      await one.read();
      const used = one.page.url();
      await once(() => one.page.goBack());
      await one.open(used);
      await one.read();
    }
    scene.saw('cancelled there and led back; then logged in; the back button does no harm; with a script and without');
  },
};

// countSignatures counts the byte ranges of a file.
export const countSignatures = (file) => file.toString('latin1').match(/\/ByteRange/g)?.length ?? 0;
