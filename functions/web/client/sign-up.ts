// Shows while the owner types if the alias is free and how strong the password is. The page works
// without it: the form says both once it is sent.
const alias = document.querySelector<HTMLInputElement>('#field-alias')
const standing = document.querySelector<HTMLElement>('#alias-standing')
const password = document.querySelector<HTMLInputElement>('#field-password')
const strength = document.querySelector<HTMLElement>('#password-strength')
const pauseMilliseconds = 400
let waiting: ReturnType<typeof setTimeout> | undefined

async function showStanding(typed: string) {
  if (!standing) return
  const answer = await fetch(`/web/alias?${new URLSearchParams({ alias: typed })}`)
  // Answers for an alias that has changed since the request are dropped.
  const words = await answer.text()
  if (!answer.ok || alias?.value !== typed) return
  standing.textContent = words
}

alias?.addEventListener('input', () => {
  clearTimeout(waiting)
  if (standing) standing.textContent = ''
  const typed = alias.value
  if (typed.length > 0) waiting = setTimeout(() => void showStanding(typed), pauseMilliseconds)
})

const levels = ['Too short', 'Easy to guess', 'Fair', 'Good', 'Strong']
const poolOf = (text: string) =>
  (/[a-z]/.test(text) ? 26 : 0) +
  (/[A-Z]/.test(text) ? 26 : 0) +
  (/[0-9]/.test(text) ? 10 : 0) +
  (/[^a-zA-Z0-9]/.test(text) ? 20 : 0)

/** Rates a password from 0 to 4. Repeats and sequences, such as aaaa or 1234, count as one character. */
function level(text: string): number {
  const characters = Array.from(text)
  if (characters.length < 10) return 0
  const steps = characters.filter((character, at) => {
    const before = characters[at - 1]?.codePointAt(0) ?? -9
    return Math.abs((character.codePointAt(0) ?? 0) - before) > 1
  })
  const distinct = new Set(steps).size
  // A letter of a word carries about half the entropy of a random letter.
  const bits = Math.min(steps.length, distinct * 2) * Math.log2(Math.max(2, poolOf(text))) * 0.6
  return bits < 32 ? 1 : bits < 45 ? 2 : bits < 60 ? 3 : 4
}

password?.addEventListener('input', () => {
  const [meter, said] = [strength?.querySelector('meter'), strength?.querySelector('span')]
  if (!strength || !meter || !said) return
  const reached = level(password.value)
  strength.hidden = password.value === ''
  meter.value = reached
  said.textContent = levels[reached] ?? ''
})

export {}
