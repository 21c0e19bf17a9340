import { publicUrlsOf } from '@vitrine/stores/profile/public-urls';
import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { createLoginToken } from '@vitrine/stores/workspaces/login-links';
import { randomBytes } from 'node:crypto';
import { emailOption, requiredOption, timeSpanOption } from './command-values.ts';
import { secondOf, withStores } from './with-stores.ts';

const MAX_MS = 86_400_000;

/** Spec: S5.13. */
export const loginLink = command({
  name: 'login-link',
  summary: 'Makes a link that signs a member of a workspace in to the console, once.',
  usage: '--workspace ID --email EMAIL [--expires SPAN] [--format text|json] [--config FILE]',
  help: `  --workspace ID  the workspace, as workspace list shows it
  --email EMAIL   the member
  --expires SPAN  how long the link can be used, such as 15m (default) or 2h; at most 1d
  --format json   for programs
  --config FILE   the store API's configuration

The link is a secret, and is shown only here. It leads to public.console_url.

Example:
  npm run store-api -- login-link --workspace ws_0123456789abcdefghjkmnpqrs --email ada@example.com
`,
  options: {
    workspace: { type: 'string' },
    email: { type: 'string' },
    expires: { type: 'string' },
    ...FORMAT_OPTION,
  },
  run: ({ values }, context) => {
    const workspace_id = requiredOption('--workspace', values.workspace);
    const email = emailOption('--email', values.email);
    const ttlMs = timeSpanOption('--expires', values.expires ?? '15m', MAX_MS);
    return withStores(values.config, context, async ({ config, pool, logger, now: at }) => {
      const request = { workspace_id, email, at, ttlMs, random: randomBytes };
      const token = await pool.transaction((transaction) =>
        createLoginToken(transaction, new TokenHashes(config.auth.peppers), request),
      );
      if (token === undefined) {
        context.stderr.write(`store-api: ${email} is no member of a workspace ${workspace_id}; see store-api workspace list\n`);
        return 1;
      }
      logger.info({ audit: 'login_link_created', workspace_id, email, expires_at: secondOf(at + ttlMs) }, 'login link created');
      const url = `${publicUrlsOf(config.public).console_url}/login?token=${token.reveal()}`;
      const result = { url, expires_at: new Date(at + ttlMs).toISOString() };
      context.stdout.write(
        formatResult(values.format, result, () => `\n  ${url}\n\nIt signs ${email} in once, until ${secondOf(at + ttlMs)}.\n`),
      );
      return 0;
    });
  },
});
