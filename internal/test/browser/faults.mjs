// Pages of which each has a fault, for the test of what the scenes have in common. The test serves them.
import { inspectHere } from './inspect.mjs';

const open = (path) => async (scene) => {
  const page = await scene.visitor();
  await page.goto(path, { waitUntil: 'networkidle' });
};

const inspected = (path) => async (scene) => {
  const page = await scene.visitor();
  await page.goto(path);
  await inspectHere(scene, page, path);
};

export const scenes = {
  'nothing wrong': inspected('/good'),
  'inline script': open('/inline'),
  'other origin': open('/elsewhere'),
  Referer: open('/referer'),
  dialog: open('/dialog'),
  'failing script': open('/throws'),
  'status 500': open('/fails'),
  contrast: inspected('/faint'),
  'no label': inspected('/unnamed'),
  overflow: inspected('/wide'),
  'failing scene': async () => { throw new Error('it fails on purpose'); },
};
