import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useSession } from '../../app/session'
import { useLanguage, useText } from '../../i18n/language'
import { useTrust } from '../../queries/trust'
import { type UnitType, useUnitType } from '../../queries/unit_types_one'
import { formatBytes, formatNumber, formatShare } from '../../ui/format'
import { Facts, Page, Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { BusyNeighbours } from './busy_neighbours'
import { flatFacts } from './facts'
import { freeUnits } from './filters'
import { SharedGpus } from './shared_gpus'
import styles from './unit_type.module.css'
import { UnitLoad, UnitState } from './unit_type_columns'
import { UnitPrice } from './unit_price'

/** One unit type: what it is, how full it is, what it costs, whether its measurements hold. */
export function UnitTypePage({ params }: { params: Record<string, string> }) {
  const t = useText()
  const query = useUnitType(params.id ?? '')
  const unit = query.data
  return (
    <Page title={unit ? `${unit.center} / ${unit.name}` : t('units.unit')} mark={unit ? <UnitState unit={unit} /> : undefined}>
      <Ready query={query}>{unit ? <Content unit={unit} /> : null}</Ready>
    </Page>
  )
}

/** What would start within it, as told, does not queue; `fathom unit show` says the same. */
const atOnceMs = 5000

/** The queue of the center's own batch system. */
function Queue({ unit }: { unit: UnitType }) {
  const t = useText()
  if (!unit.queue) return <>{t('units.queue.none')}</>
  const isEmpty = Date.parse(unit.queue.expected_start) - Date.parse(unit.queue.told_at) <= atOnceMs
  return <>{isEmpty ? t('units.queue.empty') : <>{t('units.queue.start')} <Time at={unit.queue.expected_start} /></>}{t('units.queue.told')} <Time at={unit.queue.told_at} /></>
}

function Content({ unit }: { unit: UnitType }) {
  const t = useText()
  const { may } = useSession()
  const facts = flatFacts(unit.facts)
  return (
    <>
      <Section title={t('units.unit')}>
        <Facts items={[
          [t('units.center'), <Link key="c" href={pathTo('/centers/:center', { center: unit.center })}>{unit.center}</Link>],
          [t('units.kind'), unit.resource_type], [t('units.count'), unit.unit_count], [t('units.used'), unit.units_in_use],
          [t('units.free'), freeUnits(unit)], [t('units.queue'), <Queue key="q" unit={unit} />], [t('units.load'), <UnitLoad key="l" unit={unit} />],
          [t('units.cores'), unit.cores_per_unit || null], [t('units.memory'), unit.memory_bytes_per_unit ? formatBytes(unit.memory_bytes_per_unit) : null],
          [t('units.changed'), <Time key="t" at={unit.changed_at} />], [t('ui.id'), <code key="i">{unit.id}</code>],
        ]} />
      </Section>
      <SharedGpus unit={unit} />
      <BusyNeighbours unitType={unit.id} />
      <Section title={t('units.price')}><UnitPrice unit={unit} /></Section>
      <Section title={t('units.trust')}><UnitTrust unit={unit} /></Section>
      <Section title={t('units.advice')}><Advice unit={unit} /></Section>
      <Section title={t('units.operators')} side={<span className="dim">{t('units.operators.n', { n: unit.operators.length })}</span>}>
        {unit.operators.length === 0 ? <p className="dim">{t('units.operators.none')}</p>
          : <ul className={styles.operators}>{unit.operators.map((operator) => <li key={operator}><Link href={pathTo('/operators/:id', { id: operator })}><code>{operator}</code></Link></li>)}</ul>}
      </Section>
      <Section title={t('units.facts')}>
        {facts.length === 0 ? <p className="dim">{t('units.facts.none')}</p> : <Facts items={facts} />}
      </Section>
      <Section title={t('units.more')}>
        <ul className={styles.links}>
          <li><Link href={`/calendar?center=${encodeURIComponent(unit.center)}`}>{t('units.more.calendar', { center: unit.center })}</Link></li>
          <li><Link href={`/balance?center=${encodeURIComponent(unit.center)}`}>{t('units.more.balance', { center: unit.center })}</Link></li>
          <li><Link href={`/prediction-quality?unit_type=${unit.id}`}>{t('units.more.quality')}</Link></li>
          {may('read_billing') ? <li><Link href={`/billing?center=${encodeURIComponent(unit.center)}`}>{t('units.more.usage', { center: unit.center })}</Link></li> : null}
        </ul>
      </Section>
    </>
  )
}

function UnitTrust({ unit }: { unit: UnitType }) {
  const { t, locale } = useLanguage()
  const query = useTrust()
  const trust = query.data?.items.find((item) => item.unit_type_id === unit.id)
  return (
    <Ready query={query}>
      {!trust ? <p className="dim">{t('units.trust.none')}</p> : (
        <Facts items={[
          [t('units.trust.factor'), formatShare(trust.factor)],
          [t('units.trust.slowdown'), trust.job_count > 0 ? t('units.trust.times', { n: formatNumber(trust.slowdown, locale, 2) }) : null],
          [t('units.trust.interval'), trust.job_count > 0 ? `${formatNumber(trust.low, locale, 2)} – ${formatNumber(trust.high, locale, 2)}` : null],
          [t('units.trust.jobs'), trust.job_count], [t('units.trust.findings'), trust.finding_count],
          [t('units.trust.verified'), t('units.trust.verified.of', {
            right: trust.verified.right_count, wrong: trust.verified.wrong_count, all: trust.verified.result_count })],
        ]} />
      )}
    </Ready>
  )
}

function Advice({ unit }: { unit: UnitType }) {
  const t = useText()
  if (unit.advice.length === 0) return <p className="dim">{t('units.advice.none')}</p>
  return (
    <ul className={styles.advice}>
      {unit.advice.map((advice) => (
        <li key={advice.kind}>
          <strong><ServerText>{advice.message}</ServerText></strong>
          <div><ServerText label={t('units.advice.remedy')}>{advice.remedy}</ServerText></div>
          <div className="dim"><span title={advice.kind}>{t(`units.advice.kind.${advice.kind}`)}</span> · {flatFacts(advice.evidence).map(([name, value]) => `${name} ${value}`).join(' · ')}</div>
        </li>
      ))}
    </ul>
  )
}
