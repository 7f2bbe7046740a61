// Looks at a page as everybody may see it, and says what is wrong with it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// rules are those of WCAG 2.2 AA, and what is good practice besides. On dark ground all but the colours
// is as it is on light ground.
const rules = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
const colours = { type: 'rule', values: ['color-contrast'] };
const light = ['light', rules];
const both = [['dark', colours], light];

// looks has, for each language, the colour schemes in which axe looks at a page, and its rules there: with
// INNSIGLI_FULL=1 both schemes, else light for English and dark for Icelandic.
const looks = process.env.INNSIGLI_FULL === '1' ? { en: both, is: both } : { en: [light], is: [['dark', rules]] };

// narrow is a window of 320 pixels, which is also what one of 1280 is at 400 % (WCAG 2.2, 1.4.10).
const narrow = { width: 320, height: 640 };

// inspect looks at a page in both languages. A GET of its address shows it again.
export async function inspect(scene, page, name) {
  const { pathname, search } = new URL(page.url());
  for (const language of ['en', 'is']) {
    await page.goto(`${pathname}${search ? `${search}&` : '?'}lang=${language}`);
    assert.equal(await page.locator('html').getAttribute('lang'), language, `the language of ${name}`);
    await inspectHere(scene, page, `${name}, ${language}`, looks[language]);
  }
}

// inspectAnswer looks at a page that answers a form, in both languages: the form is sent again.
export async function inspectAnswer(scene, page, name) {
  const { hostname } = new URL(scene.base);
  for (const language of ['en', 'is']) {
    await page.context().addCookies([{ name: 'lang', value: language, domain: hostname, path: '/sign/', secure: true }]);
    const answer = await page.reload();
    assert.equal(answer.request().method(), 'POST', `how ${name} is asked for`);
    assert.equal(await page.locator('html').getAttribute('lang'), language, `the language of ${name}`);
    await inspectHere(scene, page, `${name}, ${language}`, looks[language]);
  }
}

// inspectHere looks at a page as it is now, in the wanted colour schemes, and in a narrow window.
export async function inspectHere(scene, page, name, wanted = both) {
  const size = page.viewportSize();
  const before = scene.faults.length;
  // The colours of a page without a style are the browser's own, of which axe knows the light ones alone.
  const plain = await page.evaluate(() => document.styleSheets.length === 0);
  const here = plain ? [light] : wanted;
  for (const [colorScheme, runOnly] of here) {
    await page.emulateMedia({ colorScheme });
    for (const fault of await violations(page, runOnly)) scene.faults.push(`${name}, ${colorScheme}: ${fault}`);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(narrow);
  for (const fault of await overflow(page)) scene.faults.push(`${name}, ${narrow.width} px: ${fault}`);
  await page.setViewportSize(size);
  if (scene.faults.length === before) scene.saw(`${name}: axe finds nothing, ${here.map(([ground]) => ground).join(' and ')}; nothing is cut off at ${narrow.width} px`);
}

// violations are what axe finds once no colour changes any more, and where it cannot tell a contrast.
async function violations(page, runOnly) {
  await page.evaluate(() => Promise.all(document.getAnimations()
    .filter((one) => one instanceof CSSTransition).map((one) => one.finished.catch(() => {}))));
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const found = await page.evaluate(async (runOnly) => {
    const { violations, incomplete } = await globalThis.axe.run(document, { runOnly, resultTypes: ['violations', 'incomplete'] });
    // text over the picture of a document is to be found and read aloud; what is under the bar at the foot of
    // the window is scrolled from there
    const unseen = ({ html, any }) => html.startsWith('<text') || any[0]?.data?.messageKey === 'bgOverlap';
    const uncertain = incomplete.filter(({ id }) => id === 'color-contrast')
      .map((one) => ({ ...one, nodes: one.nodes.filter((node) => !unseen(node)) }));
    return [...violations, ...uncertain.filter(({ nodes }) => nodes.length > 0)];
  }, runOnly);
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ').slice(0, 600)}`);
}

// overflow is what makes the page wider than the window.
async function overflow(page) {
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
    return [`${document.documentElement.scrollWidth} px wide: ${wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)).join(' ')}`];
  });
}
