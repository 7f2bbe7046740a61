// Pictures of the pages for the documentation.
import { Signer } from './hands.mjs';
import { phoneThat, somebody } from './people.mjs';
import { shoot } from './screenshots.mjs';

const people = () => [somebody('Anna Prufudóttir'), somebody('Jón Prufuson')];

const signer = async (scene, who) => new Signer(scene, await scene.visitor(), who);

// inside has somebody open a link and log in.
async function inside(scene, who, link) {
  const one = await signer(scene, who);
  await one.open(link);
  await one.logIn();
  return one;
}

// asked has somebody begin to log in by phone.
async function asked(one, link, phone) {
  await one.open(link);
  await one.fillLogin({ way: 'sim', phone });
  await one.hand.press(one.button(one.loginForm));
}

export const scenes = {
  async 'pictures of a signature'(scene) {
    const [anna, jon] = people();
    const made = await scene.invite([anna, jon]);
    const one = await signer(scene, anna);
    await one.open(made.links[0]);
    await shoot(one.page, 'landing');
    await shoot(one.page, 'landing-wide', { size: 'wide' });
    await shoot(one.page, 'landing-dark', { dark: true });
    await one.fillLogin();
    await shoot(one.page, 'login', { at: one.loginForm });
    await one.hand.press(one.button(one.loginForm));
    await one.arrive();
    await one.read();
    await shoot(one.page, 'document', { at: one.page.locator('.pages') });
    await shoot(one.page, 'document-wide', { size: 'wide', at: one.page.locator('.pages') });
    await shoot(one.page, 'sign', { at: one.signForm });
    const other = await inside(scene, jon, made.links[1]);
    await one.sign();
    await shoot(one.page, 'signed');
    await other.askToSign();
    await other.heading.waitFor();
    await shoot(other.page, 'changed');
    await other.open(other.place);
    await other.sign();
    await shoot(other.page, 'completed');
    await other.logOut();
    await shoot(other.page, 'goodbye');
  },

  async 'pictures of who waits, and who declines'(scene) {
    const [anna, jon] = people();
    const vala = somebody('Vala Prufudóttir');
    const made = await scene.invite([anna, jon, { ...vala, role: 'Viewer' }]);
    const viewer = await signer(scene, vala);
    await viewer.open(made.links[2]);
    await shoot(viewer.page, 'landing-viewer');
    await viewer.logIn();
    await shoot(viewer.page, 'viewer');
    const one = await inside(scene, anna, made.links[0]);
    const other = await inside(scene, jon, made.links[1]);
    await other.askToSign({ method: 'IdpSim', phone: phoneThat('504') }); // whose code stays on the page
    await other.seeCode();
    await shoot(other.page, 'sign-code');
    await one.open(one.place);
    await shoot(one.page, 'busy');
    await one.open(`${one.place}/decline`);
    await shoot(one.page, 'decline');
    await one.page.goto(one.place);
    await one.open(`${one.place}?read=anyway`);
    await one.decline('Leigan er of há.');
    await shoot(one.page, 'declined');
  },

  async 'pictures of logins'(scene) {
    const [anna] = people();
    const made = await scene.invite([anna]);
    const one = await signer(scene, anna);
    await asked(one, made.links[0], phoneThat('401'));
    await one.ended();
    await shoot(one.page, 'login-failed');
    await one.open(made.links[0]);
    await one.loginForm.locator('input[name="way"][value="browser"]').check();
    await one.hand.press(one.button(one.loginForm));
    await one.page.waitForURL(/\/simulated\/login/);
    await one.open('/sign/login');
    await shoot(one.page, 'redirect');
    const phone = phoneThat('504');
    await asked(one, made.links[0], phone);
    await one.seeCode();
    await shoot(one.page, 'login-code');
    for (let n = 0; n < 25 && /\/sign\/login$/.test(one.page.url()); n++) {
      await asked(one, made.links[0], phone);
      await one.page.waitForURL(/login$/);
    }
    await shoot(one.page, 'too-often');
  },

  async 'pictures of what leads nowhere'(scene) {
    const { link, place, kennitala } = scene.settings.past;
    const one = await signer(scene, { ...somebody(), kennitala });
    await one.open(`/sign/${'x'.repeat(43)}`);
    await shoot(one.page, 'nolink');
    await one.open(link);
    await shoot(one.page, 'expired-link');
    await one.open(place);
    await one.logIn();
    await shoot(one.page, 'expired');
    const [anna, thief] = [somebody('Anna Prufudóttir'), somebody('Þjófur Þjófsson')];
    const made = await scene.invite([{ ...anna, pinned: true }]);
    const stranger = await signer(scene, thief);
    await asked(stranger, made.links[0], thief.phone);
    await stranger.ended();
    await shoot(stranger.page, 'other-person');
  },
};
