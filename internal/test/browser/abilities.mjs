// Everybody can use the pages: by the keyboard alone, read aloud, enlarged, in either language and on
// dark or light ground. Tours lead past every page there is.
import assert from 'node:assert/strict';
import { inspect, inspectAnswer } from './inspect.mjs';
import { keys, Signer } from './hands.mjs';
import { phoneThat, somebody } from './people.mjs';
import { shoot } from './screenshots.mjs';

const jonOf = () => somebody('Jón Þór Árnason');

// signer is somebody with a new browser.
const signer = async (scene, who, options) => new Signer(scene, await scene.visitor(options), who);

// ringing is a phone whose owner does not answer: its code stays on the page.
const ringing = () => phoneThat('504');

export const scenes = {
  async 'by the keyboard alone'(scene) {
    const [anna, jon] = [somebody(), jonOf()];
    const made = await scene.invite([anna, jon]);
    const one = new Signer(scene, await scene.visitor(), anna, keys);
    await one.open(made.links[0]);
    await one.logIn();
    await one.read();
    await one.sign();
    await one.download(made.id);
    await one.logOut();
    const other = new Signer(scene, await scene.visitor(), jon, keys);
    await other.open(made.links[1]);
    await other.logIn({ way: 'sim' });
    await other.decline('Nei, takk.');
    assert.equal((await scene.state(made.id)).status, 'Declined');
    scene.saw('logged in, signed, downloaded, logged out and declined; the focus was drawn, in the window and in front at every stop');
  },

  async 'every page of a login, for everybody'(scene) {
    const anna = somebody();
    const made = await scene.invite([{ ...anna, pinned: true }, jonOf()]);
    const one = await signer(scene, anna);
    await one.open(made.links[0]);
    await inspect(scene, one.page, 'landing');
    await one.fillLogin({ kennitala: '12' });
    await one.loginForm.evaluate((form) => { form.noValidate = true; });
    await one.hand.press(one.button(one.loginForm));
    await one.alert.first().waitFor();
    await inspectAnswer(scene, one.page, 'login with a fault');
    await one.open(made.links[0]);
    await one.fillLogin({ way: 'sim', phone: ringing() });
    await one.hand.press(one.button(one.loginForm));
    await one.seeCode();
    await inspect(scene, one.page, 'code of a login');
    const thief = await signer(scene, somebody('Þjófur Þjófsson'));
    await thief.open(made.links[0]);
    await thief.fillLogin();
    await thief.hand.press(thief.button(thief.loginForm));
    await thief.ended();
    await inspect(scene, thief.page, 'login of another person');
  },

  async 'every page of a document, for everybody'(scene) {
    const [anna, jon] = [somebody(), jonOf()];
    const made = await scene.invite([anna, jon]);
    const one = await signer(scene, anna);
    await one.open(made.links[0]);
    await one.logIn();
    await one.read();
    await inspect(scene, one.page, 'document');
    const other = await signer(scene, jon);
    await other.open(made.links[1]);
    await other.logIn();
    await other.askToSign({ method: 'IdpSim', phone: '12' });
    await other.alert.first().waitFor();
    await inspectAnswer(scene, other.page, 'document with a fault in the form');
    await other.open(other.place);
    await other.askToSign({ method: 'IdpSim', phone: ringing() });
    await other.seeCode();
    await inspect(scene, other.page, 'code of a signature');
    await one.open(one.place);
    await inspect(scene, one.page, 'somebody else signs');
    await one.open(`${one.place}/decline`);
    await inspect(scene, one.page, 'decline');
    await one.page.locator('[name="reason"]').evaluate((field) => field.removeAttribute('maxlength'));
    await one.page.locator('[name="reason"]').fill('x'.repeat(257));
    await one.hand.press(one.button(one.declineForm));
    await one.alert.first().waitFor();
    await inspectAnswer(scene, one.page, 'decline with a fault');
    await one.logOut();
    await inspect(scene, one.page, 'goodbye');
    await one.open(one.place);
    await inspect(scene, one.page, 'login of a place');
  },

  async 'a document with warnings, for everybody'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna], { file: scene.settings.warned });
    assert.deepEqual((await scene.state(made.id)).warnings.map(({ code, page }) => `${code} ${page}`), ['EmbeddedFiles 0', 'JavaScript 1']);
    const one = await signer(scene, anna, { expected: ['status 422'] }); // of the page that cannot be drawn
    await one.open(made.links[0]);
    await one.logIn();
    const warnings = one.page.locator('[aria-labelledby="warnings"]');
    assert.equal(await warnings.locator('li').count(), 3, await warnings.innerText());
    await inspect(scene, one.page, 'document with warnings');
    await shoot(one.page, 'warnings', { at: one.page.locator('.pages') });
    const box = one.signForm.locator('[name="notshown"]');
    assert.equal(await box.getAttribute('value'), '2');
    await one.signForm.evaluate((form) => { form.noValidate = true; });
    await one.askToSign();
    await one.alert.first().waitFor();
    await inspectAnswer(scene, one.page, 'page that was not confirmed');
    await shoot(one.page, 'not-shown', { at: one.signForm });
    await box.check();
    await one.sign();
    assert.equal((await scene.state(made.id)).status, 'Completed');
    scene.saw('three warnings; no signature before the page that was not shown is confirmed');
  },

  async 'every end, for everybody'(scene) {
    const [anna, jon] = [somebody(), jonOf()];
    const made = await scene.invite([anna, jon, { ...somebody('Vala Sigurðardóttir'), role: 'Viewer' }]);
    const one = await signer(scene, anna);
    await one.open(made.links[0]);
    await one.logIn();
    await one.sign();
    await inspect(scene, one.page, 'signed');
    const other = await signer(scene, jon);
    await other.open(made.links[1]);
    await other.logIn();
    await other.decline('Nei, takk.');
    await inspect(scene, other.page, 'declined');
    await one.open(one.place);
    await inspect(scene, one.page, 'declined by another');
    await scene.call('DELETE', `/${made.id}`, 204);
    await one.page.goto(one.place);
    await inspect(scene, one.page, 'removed');

    const alone = await scene.invite([anna]);
    await one.open(alone.links[0]);
    await inspect(scene, one.page, 'landing of who has logged in');
  },

  async 'completed, for everybody'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna, { ...somebody('Vala Sigurðardóttir'), role: 'Viewer' }]);
    const viewer = await signer(scene, somebody('Vala Sigurðardóttir'));
    await viewer.open(made.links[1]);
    await inspect(scene, viewer.page, 'landing of a viewer');
    await viewer.logIn();
    await inspect(scene, viewer.page, 'document of a viewer');
    const one = await signer(scene, anna);
    await one.open(made.links[0]);
    await one.logIn();
    await one.sign();
    await inspect(scene, one.page, 'completed');
  },
};
