// The checks that protect callers, each with a change that removes it. `npm run mutation` makes one change at a time and
// expects the named tests to fail.

const jwt = 'src/auth/server/verifiers/jwt.ts'
const signature = 'src/auth/server/verifiers/jwt-signature.ts'
const proof = 'src/auth/server/dpop/proof-check.ts'
const flow = 'src/auth/client/protocol/login-flow.ts'
const network = 'src/auth/network/guarded-network.ts'
const pages = 'src/auth/connect/grant-pages.ts'
const matrix = 'test/auth/token-matrix.test.ts'
const proofs = 'src/auth/server/dpop/proof-check.test.ts'
const client = 'src/auth/client/oauth.test.ts'

/**
 * @typedef {object} Mutant
 * @property {string} check The check that is removed.
 * @property {readonly (readonly [file: string, from: string, to: string])[]} changes Each replaces a text that occurs
 *   once in its file.
 * @property {string} tests The test file that must fail.
 */

/** @type {readonly Mutant[]} */
export const mutants = [
  {
    check: 'the signature of a token',
    changes: [
      [signature, 'await compactVerify(token, key, options)', 'void [compactVerify, key, options]'],
    ],
    tests: matrix,
  },
  {
    check: 'the list of algorithms',
    changes: [
      [jwt, '|| !algorithms.includes(header.alg)', ''],
      [signature, 'const options = { algorithms: [...algorithms] }', 'const options = {}'],
    ],
    tests: matrix,
  },
  {
    check: 'the critical headers of a token',
    changes: [
      [jwt, "if (header.crit !== undefined) throw new InvalidToken('it has critical headers')", ''],
      [signature, '[...algorithms] }', '[...algorithms], crit: { exp2: false } }'],
    ],
    tests: matrix,
  },
  {
    check: 'the audience of a token',
    changes: [[jwt, '!audiences?.some(one => rules.audiences.includes(one))', '!audiences']],
    tests: matrix,
  },
  {
    check: 'the issuer of a token',
    changes: [[jwt, ` || !rules.issuers.includes(iss)`, '']],
    tests: matrix,
  },
  {
    check: 'the expiry of a token',
    changes: [[jwt, 'if (expiresAt + rules.clockSkewMs <= now)', 'if (now < 0)']],
    tests: matrix,
  },
  {
    check: 'that a token is no ID token',
    changes: [[jwt, 'claims.nonce !== undefined || claims.at_hash !== undefined', 'false']],
    tests: matrix,
  },
  {
    check: 'the URL of a DPoP proof',
    changes: [[proof, ' || !isSameUrl(htu, target.url)', '']],
    tests: proofs,
  },
  {
    check: 'the token of a DPoP proof',
    changes: [[proof, "if (ath !== (await digest(target.token))) return 'invalid'", 'void ath']],
    tests: proofs,
  },
  {
    check: 'the key of a DPoP proof',
    changes: [[proof, "(await calculateJwkThumbprint(jwk, 'sha256')) !== target.jkt", 'false']],
    tests: proofs,
  },
  {
    check: 'the single use of a DPoP proof',
    changes: [[proof, "return isNew ? 'valid' : 'invalid'", "return 'valid'"]],
    tests: proofs,
  },
  {
    check: 'that a bound token comes with a proof',
    changes: [
      [
        'src/auth/server/authenticator.ts',
        "scheme === 'dpop' || jkt !== undefined ||",
        "scheme === 'dpop' ||",
      ],
    ],
    tests: 'src/auth/server/authenticator.test.ts',
  },
  {
    check: 'the principal of a session',
    changes: [
      [
        'src/http/server/sessions/session-table.ts',
        'session?.principal?.id === principal?.id ? session : undefined',
        'session',
      ],
    ],
    tests: 'test/auth/binding.test.ts',
  },
  {
    check: 'the state of an authorization response',
    changes: [[flow, '!isCallbackOf(pending, callback) || ', '']],
    tests: client,
  },
  {
    check: 'the issuer of an authorization response',
    changes: [[flow, 'issuers.some(found => found !== issuer)', 'false']],
    tests: client,
  },
  {
    check: 'that the authorization server supports PKCE',
    changes: [[flow, "!challengeMethods.includes('S256')", 'challengeMethods.length < 0']],
    tests: client,
  },
  {
    check: 'the addresses that metadata and keys lead to',
    changes: [[network, '!allowed.includes(is)', 'allowed.length < 0']],
    tests: 'src/auth/network/guarded-network.test.ts',
  },
  {
    check: 'the origin of a redirect',
    changes: [[network, 'target.origin === from.origin ? target : undefined', 'target']],
    tests: 'src/auth/network/guarded-network.test.ts',
  },
  {
    check: 'that a server gets another token than that of the caller',
    changes: [
      ['src/auth/client/caller/exchange.ts', 'checkIssued(tokens, subject)', 'void checkIssued'],
    ],
    tests: 'src/auth/client/caller/exchange.test.ts',
  },
  {
    check: 'what a policy denies',
    changes: [
      [
        'src/router/access/decision.ts',
        'if (denied.rule !== undefined && denied.scopes.length === 0) return hidden(denied.rule)',
        '',
      ],
    ],
    tests: 'src/router/access/compiled-policy.test.ts',
  },
  {
    check: 'the decision of a policy on a call',
    changes: [['src/router/access/guard.ts', 'if (error !== undefined) throw error', 'void error']],
    tests: 'test/auth/policy.test.ts',
  },
  {
    check: 'whose browser grants access',
    changes: [
      [
        pages,
        'user.issuer !== ticket.issuer || user.subject !== ticket.subject',
        'user.subject === ""',
      ],
    ],
    tests: 'test/auth/connect-pages.test.ts',
  },
  {
    check: 'that the browser that returns has approved',
    changes: [
      [pages, "!this.#cookies.has(request.header('cookie'), 'connect', secret)", 'secret === ""'],
    ],
    tests: 'test/auth/connect-pages.test.ts',
  },
]
