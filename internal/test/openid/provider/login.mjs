// The page on which a person logs in, who does so without being asked anything: the one of
// login_hint, or the one that the test said is at the browser.
import { answer, subject } from './people.mjs';

export async function login(provider, people, store, req, res) {
  const { params } = await provider.interactionDetails(req, res);
  const person = people.hinted(params.login_hint ?? store.get('login', 'current'));
  await provider.interactionFinished(req, res, outcome(person, params.acr_values));
}

function outcome(person, acr) {
  if (!person) return { error: 'access_denied', error_description: 'audkenni_404' };
  const { error } = answer(person, acr);
  if (error) return { error: error.code, error_description: error.description };
  return { login: { accountId: subject(person), acr } };
}

// consent is oidc-provider's loadExistingGrant: whoever has logged in has agreed.
export async function consent(ctx) {
  const { client, provider, session } = ctx.oidc;
  if (!session.accountId) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope('openid profile signature');
  await grant.save();
  return grant;
}
