// Pictures of the pages for the documentation.
import { Signer } from './hands.mjs';
import { phoneThat, somebody } from './people.mjs';
import { shoot } from './screenshots.mjs';

export const scenes = {
  async 'pictures of the pages'(scene) {
    const [anna, jon] = [somebody('Anna Prufudóttir'), somebody('Jón Prufuson')];
    const made = await scene.invite([anna, jon]);
    const one = new Signer(scene, await scene.visitor(), anna);
    await one.open(made.links[0]);
    await shoot(one.page, 'landing');
    await shoot(one.page, 'landing-wide', { size: 'wide' });
    await shoot(one.page, 'landing-dark', { dark: true });
    await one.loginForm.scrollIntoViewIfNeeded();
    await one.fillLogin();
    await shoot(one.page, 'login', { at: one.loginForm });
    await one.hand.press(one.button(one.loginForm));
    await one.arrive();
    await one.read();
    await shoot(one.page, 'document', { at: one.page.locator('.pages') });
    await shoot(one.page, 'document-wide', { size: 'wide', at: one.page.locator('.pages') });
    await one.signForm.scrollIntoViewIfNeeded();
    await shoot(one.page, 'sign', { at: one.signForm });
    await one.sign();
    await shoot(one.page, 'done');
    const other = new Signer(scene, await scene.visitor(), jon);
    await other.open(made.links[1]);
    await other.logIn();
    await other.open(`${other.place}/decline`);
    await shoot(other.page, 'decline');
    await other.open(other.place);
    await other.askToSign({ method: 'IdpSim', phone: phoneThat('504') }); // whose code stays on the page
    await other.seeCode();
    await shoot(other.page, 'code');
    await one.page.goto(`/sign/${'x'.repeat(43)}`);
    await shoot(one.page, 'nolink');
    scene.saw('pictures are made');
  },
};
