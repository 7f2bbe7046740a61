// Everybody can use the pages that few come to: what came to nothing, what is over, and what leads nowhere.
import { Attacker } from './attacker.mjs';
import { Signer } from './hands.mjs';
import { inspect, inspectAnswer, inspectHere } from './inspect.mjs';
import { phoneThat, somebody } from './people.mjs';

// signer is somebody with a new browser.
const signer = async (scene, who, options) => new Signer(scene, await scene.visitor(options), who);

// failing are what becomes of a login by the status of the phone: package idp/simulated.
const failing = { 401: 'cancelled', 105: 'unknown', 208: 'not answered' };

// mostAttempts is more than there may be logins at a place in a while.
const mostAttempts = 25;

export const scenes = {
  async 'every end of a login, for everybody'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = await signer(scene, anna);
    for (const [status, name] of Object.entries(failing)) {
      await one.open(made.links[0]);
      await one.fillLogin({ way: 'sim', phone: phoneThat(status) });
      await one.hand.press(one.button(one.loginForm));
      await one.ended();
      await inspect(scene, one.page, `login that was ${name}`);
    }
  },

  async 'a login too many, for everybody'(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = await signer(scene, anna);
    const phone = phoneThat('504');
    for (let n = 0; n < mostAttempts; n++) {
      await one.open(made.links[0]);
      await one.fillLogin({ way: 'sim', phone });
      const [answer] = await Promise.all([
        one.page.waitForResponse((response) => response.request().isNavigationRequest() && response.status() !== 303),
        one.hand.press(one.button(one.loginForm)),
      ]);
      if (answer.status() === 429) {
        await one.page.waitForURL(answer.url()); // it is an answer before it is the page
        return inspectAnswer(scene, one.page, 'login too many');
      }
      await one.page.waitForURL(/\/sign\/login$/);
    }
    throw new Error(`a phone may ring ${mostAttempts} times`);
  },

  async "the provider's own pages, for everybody"(scene) {
    const anna = somebody();
    const made = await scene.invite([anna]);
    const one = await signer(scene, anna);
    await one.open(made.links[0]);
    await one.hand.choose(one.loginForm.locator('input[name="way"][value="browser"]'));
    await one.hand.press(one.button(one.loginForm));
    await one.page.waitForURL(/\/simulated\/login/);
    await inspectHere(scene, one.page, 'simulated provider');
    await one.open('/sign/login');
    await inspect(scene, one.page, 'way to the provider');
    await one.page.locator('a.button.primary').click();
    await one.page.getByRole('button', { name: 'Cancel' }).click();
    await one.page.waitForURL(/\/sign\//);
    await one.ended();
    await inspect(scene, one.page, 'login cancelled at the provider');
  },

  async 'what leads nowhere, for everybody'(scene) {
    const attacker = await Attacker.attack(scene);
    const [anna, jon] = [somebody(), somebody('Jón Þór Árnason')];
    const made = await scene.invite([anna, jon]);
    const one = await signer(scene, anna, { expected: attacker.origins });
    await one.open(`/sign/${'x'.repeat(43)}`);
    await inspect(scene, one.page, 'no such link');
    await one.open('/sign/x/y/z');
    await inspect(scene, one.page, 'no such page');
    const { participants } = await scene.state(made.id);
    await one.open(`/sign/${made.id}/${participants[1].participantId}`);
    await inspect(scene, one.page, 'link that was not opened');
    await one.open(made.links[0]);
    await one.logIn();
    const place = one.place;
    const thief = await signer(scene, somebody('Þjófur Þjófsson'));
    await thief.open((await scene.invite([thief.who])).links[0]);
    await thief.logIn();
    await thief.open(place);
    await inspect(scene, thief.page, "somebody else's document");
    attacker.show('/', `<form method="post" action="${scene.base}/sign/logout"><button>Win a prize</button></form>`);
    await one.page.goto(attacker.origins[0]);
    await one.page.getByRole('button').click();
    await one.heading.waitFor();
    await inspectAnswer(scene, one.page, 'request of another site');
  },

  // Who had logged in and who had not, in a process that the test has made older.
  async 'what is over, for everybody'(scene) {
    const { link, place, kennitala } = scene.settings.past;
    const one = await signer(scene, { ...somebody(), kennitala });
    await one.open(link);
    await inspect(scene, one.page, 'expired link');
    await one.open(place);
    await one.logIn();
    await one.warning.first().waitFor();
    await inspect(scene, one.page, 'expired');
  },

  // Two have read the document; when one has signed, the other has read another document.
  async 'a document that has changed, for everybody'(scene) {
    const [anna, jon] = [somebody(), somebody('Jón Þór Árnason')];
    const made = await scene.invite([anna, jon]);
    const [one, other] = [await signer(scene, anna), await signer(scene, jon)];
    for (const [n, who] of [one, other].entries()) {
      await who.open(made.links[n]);
      await who.logIn();
    }
    await one.sign();
    await other.askToSign();
    await other.heading.waitFor();
    await inspectAnswer(scene, other.page, 'changed document');
  },
};
