// Pictures of the pages for docs/screenshots, when INNSIGLI_SCREENSHOTS names the folder.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = process.env.INNSIGLI_SCREENSHOTS;

// sizes are those of a phone that many have, and of a window on a laptop.
const sizes = {
  phone: { width: 390, height: 800, deviceScaleFactor: 1.65 },
  wide: { width: 1000, height: 760, deviceScaleFactor: 1 },
};

// most is how large a picture may be that is kept in the repository, in bytes.
const most = 150 * 1024;

// shoot takes a picture of what is in a window, and leaves the page's own window as it was. at, or the
// card that it is in, is at the top of it; null: the top of the page.
export async function shoot(page, name, { size = 'phone', dark = false, at = null } = {}) {
  if (!folder) return;
  const cdp = await page.context().newCDPSession(page);
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
  await cdp.send('Emulation.setDeviceMetricsOverride', { ...sizes[size], mobile: false });
  await (at ?? page.locator('body')).evaluate((element) => {
    (element.closest('.card') ?? element).scrollIntoView({ block: 'start', behavior: 'instant' });
  });
  await page.evaluate(drawn);
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'png' });
  await cdp.send('Emulation.clearDeviceMetricsOverride');
  await cdp.detach();
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  await page.setViewportSize(page.viewportSize());
  const picture = Buffer.from(data, 'base64');
  assert.ok(picture.length <= most, `${name}.png has ${picture.length} bytes, more than ${most}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.png`), picture);
}

// drawn waits for the images in the window, and until they are on the screen.
async function drawn() {
  const seen = [...document.images].filter((image) => image.getBoundingClientRect().top < innerHeight);
  await Promise.all(seen.map((image) => image.decode().catch(() => {})));
  await new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 100)); });
}
