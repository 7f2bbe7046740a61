// OpenID providers that tests start, one after the other: node main.mjs. A line of its standard input is the
// folder of the next one, and is answered with "ready PORT"; an empty line ends it, and is answered with
// "free". When its standard input ends, so has the test, and the folders go.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Instance } from './instance.mjs';

const folders = [fileURLToPath(new URL('.', import.meta.url))];
let instance;

process.on('SIGINT', () => {}); // a terminal's: the test ends, and then so does this
createInterface({ input: process.stdin })
  .on('line', async (folder) => {
    if (folder) {
      folders[1] = folder;
      instance = new Instance(folder);
      console.log(`ready ${await instance.listen()}`);
    } else {
      instance.close();
      console.log('free');
    }
  })
  .on('close', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
