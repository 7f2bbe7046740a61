// How much and how long, with nothing else going on in the browser.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { Signer } from './hands.mjs';
import { somebody } from './people.mjs';

// landingLimit is how many bytes the page of a link may take, with all that it loads.
const landingLimit = 50_000;

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

// transferred counts the bytes of what a page loads, headers and all.
async function transferred(page, load) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  let requests = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests++;
  });
  await load();
  await page.waitForLoadState('networkidle');
  await session.detach();
  return { bytes, requests };
}

// rounds is how often a picture is waited for, with a page that was drawn before.
const rounds = 20;

// seen waits until the first picture is there, and says how long that took.
async function seen(page, go) {
  const began = performance.now();
  await go();
  await page.waitForFunction(() => {
    const image = document.querySelector('.sheet img');
    return image?.complete && image.naturalWidth > 0;
  }, undefined, { polling: 10 });
  return performance.now() - began;
}

// leisure is how much longer than promised things may take where tests share the machine.
const leisure = 5;

// firstPicture is how long it takes from the end of a login, and from asking for the page again. The
// stamp goes on another page, where there is room.
async function firstPicture(scene, file, kind, page, promised) {
  const anna = somebody();
  const made = await scene.invite([anna], { file, page });
  const one = new Signer(scene, await scene.visitor(), anna);
  await one.open(made.links[0]);
  await one.fillLogin();
  await one.hand.press(one.button(one.loginForm));
  await one.arrive('commit');
  scene.figures[`ms from the end of the login to the first picture, ${kind}`] = await seen(one.page, () => {});
  const times = [];
  for (let n = 0; n < rounds; n++) times.push(await seen(one.page, () => one.page.goto(one.place, { waitUntil: 'commit' })));
  scene.figures[`ms to the first picture of a page drawn before, ${kind}, median of ${rounds}`] = median(times);
  assert.ok(median(times) < leisure * promised, `${median(times)} ms, and ${promised} are promised`);
  scene.saw(`the first page is drawn: ${kind}`);
}

export const scenes = {
  async 'landing on a big document'(scene) {
    const anna = somebody();
    const { size } = await stat(scene.settings.text);
    const made = await scene.invite([anna], { file: scene.settings.text });
    for (const javaScriptEnabled of [true, false]) {
      const one = new Signer(scene, await scene.visitor({ javaScriptEnabled }), anna);
      const { bytes, requests } = await transferred(one.page, () => one.open(made.links[0]));
      assert.ok(bytes > 1000 && bytes < landingLimit, `${bytes} bytes`);
      await one.loginForm.waitFor();
      scene.figures[`bytes of the landing page, ${requests} requests, ${javaScriptEnabled ? 'with' : 'without'} a script`] = bytes;
    }
    scene.saw(`the page of a link to a document of ${size} bytes takes less than ${landingLimit} bytes in all`);
  },

  'first picture, a page of text': (scene) => firstPicture(scene, scene.settings.text, 'a page of text', 1, 300),
  'first picture, a scan': (scene) => firstPicture(scene, scene.settings.scan, 'a scan', 2, 1000),
};
