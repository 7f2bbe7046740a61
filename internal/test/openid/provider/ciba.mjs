// What Auðkenni asks of a request, as features.ciba of oidc-provider.
import { errors } from 'oidc-provider';
import { answer, subject } from './people.mjs';
import { kinds } from './phone.mjs';
import { isDigest } from './signatures.mjs';

export const ciba = (people, phones, settings) => ({
  enabled: true,
  deliveryModes: ['poll', 'ping'],

  async processLoginHint(ctx, hint) {
    const { params } = ctx.oidc;
    const kind = kinds[params.acr_values];
    const person = people.hinted(hint);
    if (!person) refuse('audkenni_404');
    if (kind.sim && !person.phone) refuse('audkenni_400');
    if (kind.chosen) checkChoice(params, person, settings.pin);
    const { atStart } = answer(person, params.acr_values);
    if (atStart) throw new errors.CustomOIDCProviderError(atStart.code, atStart.description);
    if (settings.oneAtATime && await phones.busy(person)) refuse('mssp_406');
    return subject(person);
  },

  async validateBindingMessage(ctx, message = '') {
    if ([...message].length > 60 || /\p{Cc}/u.test(message)) {
      throw new errors.InvalidBindingMessage('at most 60 characters, none of them a control character');
    }
  },

  async validateRequestContext(ctx) {
    const { acr_values: acr, binding_content: content = '', binding_message_long: long = '' } = ctx.oidc.params;
    const kind = kinds[acr];
    if (!kind) throw new errors.InvalidRequest('unknown acr_values');
    if ([...long].length > 200) refuse('mssp_103');
    if (kind.sign && !content) refuse('mssp_102');
    if (kind.sign && !isDigest(decoded(content))) refuse('mssp_103');
  },

  async verifyUserCode() {},

  triggerAuthenticationDevice(ctx, request, account, client) {
    return phones.ring(request, client, people.hinted(ctx.oidc.params.login_hint));
  },
});

// checkChoice: the request has to name the device that was chosen, in its login_hint or in a
// claim of its own.
function checkChoice(params, person, pin) {
  if (!pin) return;
  if (!params[pin]) refuse('mssp_102');
  if (params[pin] !== person.document) refuse('mssp_422');
}

// decoded is the content in standard base64 with padding (RFC 4648 4), and empty otherwise.
function decoded(content) {
  const bytes = Buffer.from(content, 'base64');
  return bytes.toString('base64') === content ? bytes : Buffer.alloc(0);
}

function refuse(description) {
  throw new errors.CustomOIDCProviderError('access_denied', description);
}
