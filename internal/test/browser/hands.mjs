// What somebody does on a page: with a mouse, by touching it, or with the keyboard alone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patience } from './scene.mjs';
import { steadily } from './steady.mjs';

// mouse, finger and keys are ways to press what a locator finds, and to fill it in.
export const mouse = {
  press: (locator) => locator.click(),
  fill: (locator, text) => locator.fill(text),
  choose: (locator) => locator.check(),
};

export const finger = { ...mouse, press: (locator) => locator.tap(), choose: (locator) => locator.tap() };

// impatient presses everything twice.
export const impatient = { ...mouse, press: (locator) => locator.dblclick({ noWaitAfter: true }) };

// keys gets everywhere by the Tab key, and sees at each stop where it is.
export const keys = {
  async press(locator) {
    await reach(locator);
    await locator.page().keyboard.press('Enter');
  },
  async fill(locator, text) {
    await reach(locator);
    await locator.page().keyboard.press('Control+A');
    await locator.page().keyboard.type(text);
  },
  // choose goes on by arrow within radio buttons, of which the Tab key reaches one.
  async choose(locator) {
    if (await locator.isChecked()) return;
    const name = await locator.getAttribute('name');
    await reach(locator.page().locator(`input[name="${name}"]:checked`));
    for (let n = 0; n < stops && !(await locator.isChecked()); n++) await locator.page().keyboard.press('ArrowDown');
  },
};

// stops is how many stops there may be before what is looked for.
const stops = 60;

async function reach(locator) {
  const page = locator.page();
  await locator.waitFor();
  for (let n = 0; n < stops; n++) {
    if (await locator.evaluate((element) => element === document.activeElement)) return assertSeen(locator);
    await page.keyboard.press('Tab');
  }
  throw new Error(`${locator} is not reached by the Tab key`);
}

// assertSeen wants the focus visible once the page has scrolled to it: drawn, within the window, and
// not behind something.
async function assertSeen(locator) {
  const look = () => locator.evaluate((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const marked = (one) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
    };
    const front = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return {
      drawn: [element, ...(element.labels ?? [])].some(marked),
      within: top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth,
      free: !!front && (element === front || element.contains(front) || front.contains(element)),
    };
  });
  let seen;
  for (let n = 0; n < 20; n++) {
    seen = await look();
    if (seen.drawn && seen.within && seen.free) return;
    await locator.page().waitForTimeout(100);
  }
  assert.fail(`the focus on ${locator}: ${JSON.stringify(seen)}`);
}

// Signer is somebody at a browser who takes part in a process.
export class Signer {
  constructor(scene, page, who, hand = mouse) {
    this.scene = scene;
    this.page = page;
    this.who = who;
    this.hand = hand;
  }

  // The parts of the pages.
  get loginForm() { return this.page.locator('form[action$="/login"]'); }
  get signForm() { return this.page.locator('form[action$="/sign"]'); }
  get declineForm() { return this.page.locator('form[action$="/decline"]'); }
  get wayToDecline() { return this.page.locator('a[href$="/decline"]'); }
  get wayToDocument() { return this.page.locator('a[href*="/document"]'); }
  get code() { return this.page.locator('.code'); }
  get alert() { return this.page.locator('.error'); }
  get pictures() { return this.page.locator('.sheet img'); }
  get good() { return this.page.locator('.note.good'); }
  get warning() { return this.page.locator('.note.warning'); }
  get heading() { return this.page.locator('h1'); }

  button(form) { return form.locator('button').last(); }

  // open opens a link, as from a letter, and finds a page in which something can be done.
  async open(link) {
    const response = await this.page.goto(link);
    await this.heading.waitFor();
    return response;
  }

  // fillLogin says who logs in, and how.
  async fillLogin({ way = 'app', kennitala = this.who.kennitala, phone = this.who.phone } = {}) {
    await this.hand.choose(this.loginForm.locator(`input[name="way"][value="${way}"]`));
    this.typed = way === 'sim' ? phone : kennitala;
    const field = this.loginForm.locator(way === 'sim' ? 'input[name="phone"]' : 'input[name="kennitala"]');
    await this.hand.fill(field, this.typed);
  }

  // ended waits for what has become of a login that came to nothing.
  async ended() {
    await this.page.waitForURL(/\/sign\/login$/);
    await this.page.waitForFunction(() => document.querySelector('main a.button.primary') && !document.querySelector('.code, .spinner'));
  }

  // logIn is all of a login, up to the page of the participant.
  async logIn(options) {
    await this.fillLogin(options);
    await this.hand.press(this.button(this.loginForm));
    await this.arrive();
  }

  // arrive waits for the page of the participant.
  async arrive(waitUntil) {
    await this.page.waitForURL(/\/sign\/[0-9a-f-]{36}\/[0-9a-f-]{36}(\?.*)?$/, { waitUntil });
    await this.heading.waitFor();
    this.place = new URL(this.page.url()).pathname;
  }

  // read looks at the first page: its picture has been drawn and its text can be found.
  async read(text = 'Samningur um undirritun') {
    const first = this.pictures.first();
    await first.waitFor();
    const look = () => steadily(() => first.evaluate(({ complete, naturalWidth, currentSrc }) => ({ complete, naturalWidth, currentSrc })));
    let seen;
    let broken = 0;
    for (const end = Date.now() + patience; Date.now() < end; await this.page.waitForTimeout(50)) {
      seen = await look();
      if (seen.complete && seen.naturalWidth >= 300) break;
      // The page asks again for a picture that a busy server did not draw, and then leaves that to the person.
      if (seen.complete && seen.naturalWidth === 0 && ++broken % 400 === 0) /* every 20 seconds */ await this.page.reload();
    }
    assert.ok(seen.complete && seen.naturalWidth >= 300, `the picture of the first page: ${JSON.stringify(seen)}`);
    const sheet = this.page.locator('.sheet').first();
    let written = await sheet.textContent();
    for (const end = Date.now() + patience; written.includes('Ekki tókst að sækja texta') && Date.now() < end; written = await sheet.textContent()) {
      await this.page.reload(); // as the page asks for where the server had no time to read the text
    }
    assert.ok(written.replace(/\s+/g, ' ').includes(text), `the text of the first page is ${written}`);
  }

  // askToSign presses the button; the code is on the page then, and alone.
  async askToSign({ method, phone } = {}) { // method: IdpApp or IdpSim
    if (method) await this.hand.choose(this.signForm.locator(`input[name="method"][value="${method}"]`));
    if (phone) await this.hand.fill(this.signForm.locator('input[name="phone"]'), phone);
    await this.hand.press(this.button(this.signForm));
  }

  // seeCode reads the code. Where the machine is slow the signature may have landed before the page is
  // there, or before anybody looks at it: then it is undefined. One look tells which, because the page
  // goes on by itself between two.
  async seeCode() {
    const either = this.code.or(this.good).first();
    const look = (element) => ({ landed: element.matches('.good'), text: element.textContent });
    const { landed, text } = await steadily(() => either.evaluate(look));
    if (landed) return undefined;
    const [code] = text.match(/\b\d{4}\b/) ?? assert.fail('no code of four digits');
    return code;
  }

  // sign signs, sees the code, and that the signature has landed.
  async sign(options) {
    await this.askToSign(options);
    await this.landed();
  }

  // landed waits until the page says that this person has signed.
  async landed() {
    await this.good.first().waitFor();
    assert.equal(await this.signForm.count(), 0, 'forms to sign after the signature');
  }

  // decline gives a reason.
  async decline(reason) {
    await this.hand.press(this.wayToDecline.first());
    await this.declineForm.locator('[name="reason"]').waitFor();
    await this.hand.fill(this.declineForm.locator('[name="reason"]'), reason);
    await this.hand.press(this.button(this.declineForm));
    await this.declineForm.waitFor({ state: 'detached' });
    await this.heading.waitFor();
    await this.wayToDecline.first().waitFor({ state: 'detached' });
  }

  // download takes the document, which has to be what the API has. It is judged at the end when signers
  // are who has signed it, by what they typed to log in.
  async download(id, signers) {
    const coming = this.page.waitForEvent('download');
    await this.hand.press(this.wayToDocument.first());
    const download = await coming;
    const path = join(this.scene.settings.files, `${id}-${this.scene.files.length}.pdf`);
    await download.saveAs(path);
    assert.ok((await readFile(path)).equals(await this.scene.document(id)), 'the download is the document');
    if (signers) this.scene.files.push({ path, signers });
    return download.suggestedFilename();
  }

  async logOut() {
    await this.hand.press(this.page.locator('header form[action$="/logout"] button'));
    await this.page.waitForURL(/\/goodbye(\/[^/]+)?$/);
  }
}
