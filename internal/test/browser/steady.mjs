// Pages go on by themselves while somebody acts: when a phone has answered, when a document is signed, or
// when a button is pressed twice. What was being loaded then gives way to the next page, of which
// Playwright makes an error of whoever waits.

const gaveWay = /net::ERR_ABORTED|interrupted by another navigation|Execution context was destroyed|frame was detached/i;

// most is how often something may be tried.
const most = 4;

// steadily does what can be done again until nothing comes between: looking, waiting, opening an address.
export async function steadily(act) {
  for (let n = 1; ; n++) {
    try {
      return await act();
    } catch (error) {
      if (n === most || !gaveWay.test(error.message)) throw error;
    }
  }
}

// once does what must not be done again, such as going back: when that gave way, the page went on by itself.
export async function once(act) {
  try {
    return await act();
  } catch (error) {
    if (!gaveWay.test(error.message)) throw error;
    return undefined;
  }
}

// steady has a page open addresses, wait for them, and be looked at, whatever comes between.
export function steady(page) {
  for (const name of ['goto', 'waitForURL', 'evaluate']) {
    const act = page[name].bind(page);
    page[name] = (...args) => steadily(() => act(...args));
  }
  return page;
}
