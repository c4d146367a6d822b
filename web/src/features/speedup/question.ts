import type { TextKey } from '../../i18n/en'
import type { Values } from '../../i18n/language'
import type { SpeedupQuestion } from '../../queries/speedup'

/** The letters of the model (S1–S6), and what a center may fill in. */
export const fieldNames = ['class', 'e', 't', 'd', 'o', 'n', 'k', 'b', 'p', 'm', 'r', 'c', 'v', 'threshold', 'center', 'operator', 'compressed'] as const
export type FieldName = (typeof fieldNames)[number]
export type Fields = Readonly<Record<FieldName, string>>

/** How the work on one CPU grows with t: in the class measured as the exponent e says. */
export const classes = ['linear', 'quadratic', 'measured'] as const
type Class = (typeof classes)[number]
const classOf = (text: string): Class => classes.find((one) => one === text) ?? 'linear'

export const startFields: Fields = {
  class: 'quadratic', e: '', t: '0.2', d: '1', o: '0.1', n: '1000', k: '10', b: '10', p: '12.8', m: '64', r: '1', c: '', v: '', threshold: '1',
  center: '', operator: '', compressed: '',
}

/** The numbers of an address as they stand there; without any, an example to start from. */
export function fieldsOf(raw: Fields): Fields {
  return fieldNames.some((name) => raw[name] !== '') ? { ...raw, class: classOf(raw.class) } : startFields
}

export interface Complaint {
  key: TextKey
  values?: Values
}

type Check = (value: number) => Complaint | null
const positive: Check = (value) => (value > 0 ? null : { key: 'speedup.wrong.positive' })
const within = (low: number, high: number): Check => (value) => (value >= low && value <= high ? null : { key: 'speedup.wrong.range', values: { low, high } })
const least = (low: number): Check => (value) => (value >= low ? null : { key: 'speedup.wrong.least', values: { low } })
const whole = (low: number): Check => (value) => (Number.isInteger(value) && value >= low ? null : { key: 'speedup.wrong.whole', values: { low } })

interface Rule {
  check: Check
  to: keyof SpeedupQuestion
  /** Whether it must be there: always, unless a center fills it in, or never. */
  need: 'always' | 'own' | 'never'
}

type NumberName = Exclude<FieldName, 'class' | 'center' | 'operator' | 'compressed'>
const rules: Record<NumberName, Rule> = {
  e: { check: within(0.1, 10), to: 'exponent', need: 'own' },
  t: { check: within(0.001, 10), to: 'seconds_per_100mb', need: 'own' },
  d: { check: positive, to: 'input_gb', need: 'always' },
  o: { check: least(0), to: 'output_fraction', need: 'never' },
  n: { check: whole(1), to: 'machines', need: 'always' },
  k: { check: whole(2), to: 'per_aggregation', need: 'never' },
  b: { check: positive, to: 'network_gb_s', need: 'own' },
  p: { check: positive, to: 'bus_gb_s', need: 'never' },
  m: { check: least(1), to: 'gpu_parallelism', need: 'own' },
  r: { check: positive, to: 'core_ratio', need: 'never' },
  c: { check: (value) => positive(value) ?? within(0, 1)(value), to: 'compressed_fraction', need: 'never' },
  v: { check: positive, to: 'compression_gb_s', need: 'never' },
  threshold: { check: least(1), to: 'threshold', need: 'never' },
}
const numberNames = Object.keys(rules) as NumberName[]

/** The numbers that the form asks for: the exponent belongs to the class measured alone. */
export const numberNamesOf = (fields: Fields) => numberNames.filter((name) => name !== 'e' || fields.class === 'measured')

/** What POST /speedup:predict takes, or what is wrong with which field. */
export function toQuestion(fields: Fields): { question: SpeedupQuestion | null; wrong: Partial<Record<FieldName, Complaint>> } {
  const wrong: Partial<Record<FieldName, Complaint>> = {}
  const numbers: Partial<Record<keyof SpeedupQuestion, number>> = {}
  for (const name of numberNamesOf(fields)) {
    const { check, to, need } = rules[name]
    const text = fields[name].trim()
    if (text === '') {
      if (need === 'always' || (need === 'own' && !fields.center)) wrong[name] = { key: 'speedup.wrong.needed' }
      continue
    }
    const value = Number(text)
    const complaint = Number.isFinite(value) ? check(value) : ({ key: 'speedup.wrong.positive' } as const)
    if (complaint) wrong[name] = complaint
    else numbers[to] = value
  }
  if ((fields.c.trim() === '') !== (fields.v.trim() === '')) wrong[fields.c.trim() === '' ? 'c' : 'v'] = { key: 'speedup.wrong.pair' }
  if (Object.keys(wrong).length > 0) return { question: null, wrong }
  const question = {
    ...numbers, class: classOf(fields.class),
    ...(fields.center ? { center: fields.center, ...(fields.operator ? { operator: fields.operator } : {}), ...(fields.compressed ? { compressed: true } : {}) } : {}),
  } as SpeedupQuestion
  return { question, wrong }
}

export interface Preset {
  id: string
  network: 'ten' | 'ib'
  isCompressed: boolean
  kind: 'linear' | 'quadratic'
  fields: Fields
}

export const networks = { ten: '0.125', ib: '10' } as const

/** The worked examples of the specification, in its order. */
export const presets: readonly Preset[] = [false, true].flatMap((isCompressed) => (['ten', 'ib'] as const).flatMap((network) =>
  (['linear', 'quadratic'] as const).map((kind) => ({
    id: `${network}-${kind}-${isCompressed}`, network, isCompressed, kind,
    fields: { ...startFields, class: kind, t: kind === 'linear' ? '0.005' : '0.2', b: networks[network], c: isCompressed ? '0.3' : '', v: isCompressed ? '0.1' : '' },
  }))))
