// An OpenID provider in Auðkenni's shape: its paths, scopes, claims and ways to say things.
import { createPublicKey } from 'node:crypto';
import { Provider } from 'oidc-provider';
import { ciba } from './ciba.mjs';
import { resigned, signingKeys } from './keys.mjs';
import { consent } from './login.mjs';
import { answer } from './people.mjs';
import { kinds } from './phone.mjs';
import { adapter } from './store.mjs';

export const routes = {
  authorization: '/authorize',
  backchannel_authentication: '/bc-authorize',
  token: '/access_token',
  userinfo: '/userinfo',
  jwks: '/connect/jwk_uri',
};

// expiry is how many seconds a person has who is asked.
function expiry(people, params) {
  const person = people.hinted(params?.login_hint);
  return (person && answer(person, params.acr_values).expires) || Infinity;
}

export function openProvider(settings, store, people, phones) {
  const provider = new Provider(settings.issuer, {
    acrValues: Object.keys(kinds),
    adapter: adapter(store),
    claims: {
      openid: ['sub'],
      profile: ['name', 'nationalRegisterId'],
      signature: ['signature', 'certificate', 'documentNr'],
    },
    clients: [client(settings.client)],
    conformIdTokenClaims: false, // the ID token has the claims of userinfo too
    cookies: { keys: [settings.secret] },
    extraParams: ['binding_content', 'binding_message_long', 'vchoice', 'confirmation_message', settings.pin]
      .filter((name) => name && name !== 'login_hint'),
    features: {
      ciba: ciba(people, phones, settings),
      devInteractions: { enabled: false },
      requestObjects: { enabled: true },
    },
    // Pings go where the test listens: oidc-provider's own way refuses addresses of the machine
    // itself, and plain HTTP. It also gives a ping up after 2.5 seconds, and nobody pings again: a
    // server on a busy machine may take longer to answer.
    fetch: (url, { dispatcher, signal, ...options }) => fetch(settings.notify, options),
    findAccount: people.account,
    interactions: { url: (ctx, { uid }) => `${settings.path}/interaction/${uid}` },
    jwks: { keys: signingKeys(store, settings.key) },
    loadExistingGrant: consent,
    pkce: { required: () => true },
    routes,
    scopes: ['openid', 'profile', 'signature'],
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      BackchannelAuthenticationRequest: (ctx) => Math.min(
        settings.expires,
        ctx?.oidc?.params.requested_expiry ?? Infinity,
        expiry(people, ctx?.oidc?.params),
      ),
      Grant: 3600,
      IdToken: 600,
      Interaction: 600,
      Session: 3600,
    },
  });
  provider.use(manners(settings, store, people, phones));
  provider.on('server_error', (ctx, error) => console.error('server_error:', error));
  return provider;
}

function client({ key, kid, ...metadata }) {
  const jwk = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
    .export({ format: 'jwk' });
  return { ...metadata, jwks: { keys: [{ ...jwk, kid, use: 'sig' }] } };
}

// manners are what oidc-provider leaves out: the interval, slow_down, ID tokens with claims that the
// test gave, and a discovery document without the endpoint of CIBA. It also notes what was asked,
// and what was issued.
function manners(settings, store, people, phones) {
  const polled = new Map();
  let { slowDowns } = settings;

  const tooEarly = (id) => {
    const before = polled.get(id) ?? -Infinity;
    polled.set(id, Date.now());
    return Date.now() - before < settings.interval * 1000;
  };

  const issued = (name, answer) => {
    if (answer?.[name]) store.add('issued', answer[name]);
  };

  return async (ctx, next) => {
    await next();
    switch (ctx.oidc?.route) {
      case 'backchannel_authentication':
        store.add('asked', { at: Date.now(), body: { ...ctx.oidc.body }, acr: ctx.oidc.params?.acr_values, id: ctx.body?.auth_req_id });
        issued('auth_req_id', ctx.body);
        if (settings.interval && ctx.status === 200) ctx.body.interval = settings.interval;
        break;
      case 'token':
        if (ctx.body?.error === 'authorization_pending' && tooEarly(ctx.oidc.params.auth_req_id) && slowDowns > 0) {
          slowDowns -= 1;
          ctx.body = { error: 'slow_down', error_description: 'polled within the interval' };
        }
        if (ctx.oidc.params?.auth_req_id) {
          store.add('polled', { at: Date.now(), id: ctx.oidc.params.auth_req_id, error: ctx.body.error });
          await phones.polled(ctx.oidc.params.auth_req_id);
        }
        if (ctx.body?.id_token) {
          const claims = people.idTokenClaims(ctx.oidc.account.accountId, ctx.oidc.params.auth_req_id);
          if (claims) ctx.body.id_token = await resigned(ctx.body.id_token, signingKeys(store)[0], claims);
        }
        ['access_token', 'id_token'].forEach((name) => issued(name, ctx.body));
        break;
      case 'discovery':
        if (settings.undiscovered) delete ctx.body.backchannel_authentication_endpoint;
        break;
      default:
    }
  };
}
