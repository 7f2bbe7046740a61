// Serves one provider at a time to tests: node main.mjs. A line of its standard input is the folder of the
// next one, and is answered with "ready"; an empty line ends it, and is answered with "free". When its
// standard input ends, so has the test, and the folders go.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Instance } from './instance.mjs';

const folders = [fileURLToPath(new URL('.', import.meta.url))];
let instance;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {}); // the test ends, and then so does this
createInterface({ input: process.stdin })
  .on('line', async (folder) => {
    if (folder) {
      folders[1] = folder;
      instance = new Instance(folder);
      await instance.listen();
      console.log('ready');
    } else {
      instance.close();
      console.log('free');
    }
  })
  .on('close', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
