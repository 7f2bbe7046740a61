// Plays the scenes of settings.json: node main.mjs, beside it. It prints the names of the scenes as
// one line of JSON, and then a line for each scene that has ended. When its standard input ends, so
// has the test, and the browser goes.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { Scene } from './scene.mjs';

const settings = JSON.parse(readFileSync(new URL('settings.json', import.meta.url)));

// together is how many scenes are played at once: most of a scene is waiting for a phone.
const together = 8;

// The scenes of figures come last and alone, so that nothing else takes the machine's time meanwhile.
// Rare pages (corners) and what people do by mistake (stumbles) are played with INNSIGLI_FULL=1 alone.
const scripts = settings.scripts ?? ['stories', 'abilities', 'attempts', 'forms', 'script', 'figures'];
if (process.env.INNSIGLI_FULL === '1' && !settings.scripts) scripts.unshift('corners', 'stumbles');
if (process.env.INNSIGLI_SCREENSHOTS && !settings.scripts) scripts.push('pictures');
const crowd = [];
const alone = [];
for (const script of scripts) {
  const { scenes } = await import(`./${script}.mjs`);
  const asked = Object.entries(scenes).filter(([name]) => name.includes(settings.only));
  (script === 'figures' ? alone : crowd).push(...asked);
}

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function playAll(browser, list) {
  for (let next = list.shift(); next; next = list.shift()) {
    const [name, script] = next;
    say(await new Scene(browser, settings, name).play(script));
  }
}

say([...crowd, ...alone].map(([name]) => name));
const browser = await chromium.launch({
  executablePath: settings.browser,
  chromiumSandbox: process.getuid() !== 0,
  args: ['--disable-gpu'], // which would be played by the processor
});
process.stdin.resume().on('end', () => browser.close().finally(() => process.exit(1)));
await Promise.all(Array.from({ length: together }, () => playAll(browser, crowd)));
await playAll(browser, alone);
await browser.close();
process.exit();
