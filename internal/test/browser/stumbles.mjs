// Back, reload and double click at every step, with a script and without. What a person can do by
// mistake comes to no harm: one login, one signature, and always a page that leads on.
import assert from 'node:assert/strict';
import { impatient, mouse, Signer } from './hands.mjs';
import { somebody } from './people.mjs';
import { once } from './steady.mjs';
import { countSignatures } from './stories.mjs';

// stumbler goes back, and forth again, and reloads, and wants a page of ours each time; and no reload
// sends a form again.
class Stumbler extends Signer {
  stumbles = 0;

  async stumble(then) {
    const sent = [];
    const note = (request) => {
      if (request.method() !== 'GET') sent.push(request.url());
    };
    this.page.on('request', note);
    for (const step of ['reload', 'goBack', 'goForward', 'reload']) {
      await once(() => this.page[step]());
      assert.deepEqual(sent, [], `${step} sends a form again`);
      if (this.page.url() === 'about:blank') await once(() => this.page.goForward());
      await this.heading.waitFor();
      this.stumbles++;
    }
    this.page.off('request', note);
    await then();
  }
}

async function signs(scene, options) {
  const anna = somebody();
  const made = await scene.invite([anna]);
  const one = new Stumbler(scene, await scene.visitor(options), anna, impatient);
  await one.open(made.links[0]);
  await one.stumble(() => one.loginForm.waitFor());
  await one.fillLogin();
  await one.hand.press(one.button(one.loginForm));
  await one.arrive();
  await one.stumble(() => one.open(one.place));
  await one.read();
  await one.askToSign({ method: 'IdpSim', phone: anna.phone });
  await one.seeCode();
  await one.stumble(() => one.open(one.place));
  await one.landed();
  await one.stumble(() => one.open(one.place));
  await one.landed();
  assert.equal((await scene.state(made.id)).status, 'Completed');
  assert.equal(countSignatures(await scene.document(made.id)), 1);
  scene.saw(`everything pressed twice, ${one.stumbles} times back, forth or reloaded: one signature`);
}

async function declines(scene, options) {
  const anna = somebody();
  const made = await scene.invite([anna, somebody('Jón Þór Árnason')]);
  const one = new Stumbler(scene, await scene.visitor(options), anna, impatient);
  await one.open(made.links[0]);
  await one.logIn();
  await mouse.press(one.wayToDecline.first());
  await one.stumble(() => one.open(`${one.place}/decline`));
  await one.declineForm.locator('[name="reason"]').fill('Nei.');
  await one.hand.press(one.button(one.declineForm));
  await one.page.waitForURL(`**${one.place}*`);
  await one.stumble(() => one.open(one.place));
  await one.open(`${one.place}/decline`); // by a bookmark
  assert.equal(await one.declineForm.count(), 0, 'a form to decline again');
  const { participants } = await scene.state(made.id);
  assert.deepEqual([participants[0].status, participants[0].declineReason], ['Declined', 'Nei.']);
  scene.saw(`declined by a double click, ${one.stumbles} times back, forth or reloaded: declined once`);
}

// The back button after logging out shows nobody's document.
async function logsOut(scene, options) {
  const anna = somebody();
  const made = await scene.invite([anna]);
  const one = new Stumbler(scene, await scene.visitor(options), anna);
  await one.open(made.links[0]);
  await one.logIn();
  await one.read();
  await one.logOut();
  await one.page.goBack();
  await one.heading.waitFor();
  assert.equal(await one.pictures.count(), 0, 'pictures after logging out, by the back button');
  await one.open(one.place);
  assert.equal(await one.pictures.count(), 0, 'pictures after logging out');
  await one.loginForm.waitFor();
  scene.saw('after logging out the back button leads to a login');
}

const plain = { javaScriptEnabled: false };

export const scenes = {
  'back, reload and double click, signing': (scene) => signs(scene),
  'back, reload and double click, signing without JavaScript': (scene) => signs(scene, plain),
  'back, reload and double click, declining': (scene) => declines(scene),
  'back, reload and double click, declining without JavaScript': (scene) => declines(scene, plain),
  'back after logging out': (scene) => logsOut(scene),
  'back after logging out, without JavaScript': (scene) => logsOut(scene, plain),
};
