/** The secret part of a login, as forms of ours carry it. An empty field says nothing. */

/** What was typed, to be read by the schema of the vault. */
export function secretIn(form: URLSearchParams): object {
  const text = (name: string) => form.get(name) ?? ''
  const fields = fieldsIn(text('fields'))
  return {
    ...part('password', text('password')),
    ...part('totp_secret', text('totp_secret').trim(), form.has('drop_totp')),
    ...part('notes', text('notes').replaceAll('\r\n', '\n'), form.has('drop_notes')),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  }
}

function part(name: string, typed: string, isDropped = false): object {
  if (typed !== '') return { [name]: typed }
  return isDropped ? { [name]: null } : {}
}

/** One a line, `name: value`; a name alone takes the field away. */
function fieldsIn(text: string): Record<string, string | null> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim() || null]
    }),
  )
}
