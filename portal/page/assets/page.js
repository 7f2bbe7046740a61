// What pages do better with a script. All of them work without it.
'use strict';

// A form is sent once, however often its button is pressed; again after a while, and when the page
// is come back to. The button stays where it is, with the focus.
{
  const armed = (form, yes) => {
    form.toggleAttribute('data-sent', !yes);
    for (const button of form.querySelectorAll('button')) {
      if (yes) button.removeAttribute('aria-disabled');
      else button.setAttribute('aria-disabled', 'true');
    }
  };
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.hasAttribute('data-sent')) return event.preventDefault();
    armed(form, false);
    setTimeout(armed, 10_000, form, true);
  });
  addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll('form[data-sent]')) armed(form, true);
  });
}

// What is marked with data-when="VALUE" is shown while the choice of its form has that value.
{
  const choose = () => {
    for (const part of document.querySelectorAll('[data-when]')) {
      const choice = part.closest('form').querySelector('.choice input:checked');
      const shown = !choice || part.dataset.when.split(' ').includes(choice.value);
      part.hidden = !shown;
      for (const field of part.querySelectorAll('input, textarea')) field.disabled = !shown;
    }
  };
  document.addEventListener('change', choose);
  addEventListener('pageshow', choose);
  choose();
}

// A page that waits asks how things are, instead of being loaded again and again, and goes on when
// they are otherwise than it shows: than its data-state says, else than at the first answer.
{
  const every = Number(document.body.dataset.refresh) * 1000;
  const live = document.getElementById('live');
  let gap = every;
  let timer = 0;
  let state = document.querySelector('[data-state]')?.dataset.state;

  const say = (text) => {
    live.className = text ? 'live note' : 'live';
    if (live.textContent !== text) live.textContent = text;
  };
  const goOn = (to) => {
    say(live.dataset.opening);
    const url = new URL(to || location.href, location.href);
    location.replace(url.origin === location.origin ? url.href : location.href);
  };
  const ask = async () => {
    let answer;
    try {
      answer = await fetch(location.href, { headers: { Accept: 'application/json' }, cache: 'no-store' });
    } catch {
      return again(Math.min(gap * 2, 30_000), live.dataset.lost);
    }
    if (answer.status >= 500) return again(Math.min(gap * 2, 30_000), live.dataset.lost);
    if (!/^application\/json/.test(answer.headers.get('Content-Type'))) return goOn('');
    const now = await answer.json();
    state ??= now.state;
    if (now.state !== state || now.state === 'done' || now.state === 'failed') return goOn(now.to);
    again(Math.min(gap * 1.1, every * 3), '');
  };
  const again = (next, text) => {
    say(text);
    gap = next;
    timer = setTimeout(ask, gap);
  };
  if (every) {
    timer = setTimeout(ask, gap);
    // who comes back from another app wants to know at once
    document.addEventListener('visibilitychange', () => {
      clearTimeout(timer);
      gap = every;
      if (!document.hidden) timer = setTimeout(ask, 200);
    });
  }
}

// A picture that the server had no time for is asked for again, a few times. What comes in its place
// then is a picture too, so that the status has to tell.
{
  const most = 5;
  const missing = (picture) => picture.naturalWidth === 0
    || performance.getEntriesByName(picture.currentSrc).at(-1)?.responseStatus === 503;
  const look = (picture) => {
    const tries = Number(picture.dataset.tries ?? 0);
    if (!picture.complete || !missing(picture) || tries >= most || picture.dataset.soon) return;
    picture.dataset.soon = 'yes';
    setTimeout(() => {
      const url = new URL(picture.currentSrc || picture.src);
      url.searchParams.set('again', tries + 1);
      delete picture.dataset.soon;
      picture.dataset.tries = tries + 1;
      picture.removeAttribute('srcset');
      picture.src = url;
    }, 1000 * 2 ** tries);
  };
  const looked = (event) => {
    if (event.target.matches?.('.sheet img')) look(event.target);
  };
  document.addEventListener('load', looked, true);
  document.addEventListener('error', looked, true);
  document.querySelectorAll('.sheet img').forEach(look);
}
