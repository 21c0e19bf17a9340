/** Text that is already HTML. */
interface Html {
  readonly html: string;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** HTML from a template, whose values are escaped unless they are HTML. */
export function html(texts: TemplateStringsArray, ...values: readonly (string | number | null | Html | readonly Html[])[]): Html {
  return { html: texts.map((text, i) => text + (i < values.length ? rendered(values[i] ?? '') : '')).join('') };
}

/** A whole page without scripts or external resources. */
export function page(title: string, body: Html): string {
  return `<!doctype html>${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          body {
            max-width: 44rem;
            margin: 2rem auto;
            padding: 0 1rem;
            font:
              1rem/1.5 system-ui,
              sans-serif;
          }
          td,
          th {
            padding: 0.2rem 1rem 0.2rem 0;
            text-align: left;
            vertical-align: top;
          }
          pre {
            overflow-x: auto;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`.html
  }`;
}

/** A table of names and values; null is shown as unknown. */
export function facts(rows: readonly (readonly [name: string, value: string | number | null | Html])[]): Html {
  return html`<table>
    ${rows.map(
      ([name, value]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${value ?? 'not known'}</td>
        </tr>`,
    )}
  </table>`;
}

function rendered(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'object') return 'html' in value ? value.html : value.map((one) => one.html).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
