import { permissions } from '../../api/session'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { Settings as BrowserSettings } from '../../app/shell/header'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type Role, roles } from '../../queries/accounts'
import { type Health, useHealth } from '../../queries/health'
import { formatDuration } from '../../ui/format'
import { knownWord } from '../../ui/known_word'
import { Facts, Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { StatePill, type Tone } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { PasswordForm } from './password_form'
import styles from './settings.module.css'

/** Who one is here, what one may do, and how the server stands. */
export function SettingsPage() {
  const t = useText()
  const { session, may } = useSession()
  const health = useHealth()
  const way = !session.account ? 'token' : session.has_password ? 'account' : 'provider'
  const lacking = permissions.filter((permission) => !may(permission))
  return (
    <Page title={t('settings.title')}>
      <Section title={t('settings.me')}>
        <Facts items={[
          [t('settings.me.name'), session.name], [t('settings.me.role'), t(`accounts.role.${roleOf(session.role)}`)],
          [t('settings.me.by'), t(`settings.me.by.${way}`)],
          [t('settings.me.until'), session.expires_at ? <Time key="u" at={session.expires_at} /> : null],
          ...(session.token_id ? [[t('settings.me.identity'), <code key="i">{session.token_id}</code>] as const] : []),
        ]} />
      </Section>
      <div className={styles.columns}>
        <Section title={t('settings.may')}>
          <ul className={styles.list}>{permissions.filter(may).map((permission) => <li key={permission}>{t(`settings.may.${permission}`)} <code className="dim">{permission}</code></li>)}</ul>
          {Object.keys(session.projects).length > 0 ? (
            <>
              <p>{t('settings.projects')}:</p>
              <ul className={styles.list}>{Object.entries(session.projects).map(([project, role]) => (
                <li key={project}><Link href={pathTo('/projects/:name', { name: project })}>{project}</Link>: {t(`projects.role.${role}`)}. {t(`projects.role.${role}.hint`)}.</li>))}</ul>
            </>
          ) : null}
          {lacking.length > 0 ? (
            <>
              <p className="dim">{t('settings.may.not')}:</p>
              <ul className={`${styles.list} dim`}>{lacking.map((permission) => <li key={permission}>{t(`settings.may.${permission}`)}</li>)}</ul>
            </>
          ) : null}
        </Section>
        <div>
          <Section title={t('settings.password')}>{way === 'account' ? <PasswordForm name={session.name} /> : <p className="dim">{t(`settings.password.${way}`)}</p>}</Section>
          <Section title={t('settings.browser')}>
            <p className="dim">{t('settings.browser.hint')}</p>
            <div className={styles.browser}><BrowserSettings /></div>
          </Section>
        </div>
      </div>
      <Section title={t('settings.server')}><Ready query={health}>{health.data ? <Server health={health.data} /> : null}</Ready></Section>
    </Page>
  )
}

function roleOf(role: string): Role {
  return knownWord(roles, role) ?? 'viewer'
}

const checks = ['database', 'embedded_postgres', 'disk'] as const
const states = ['ok', 'low', 'unavailable'] as const
const tones: Record<string, Tone> = { ok: 'good', degraded: 'warn', unavailable: 'bad' }

function Server({ health }: { health: Health }) {
  const t = useText()
  const status = health.readiness?.status ?? 'unknown'
  const checkName = (name: string) => {
    const known = knownWord(checks, name)
    return known ? t(`settings.server.check.${known}`) : name
  }
  const stateWord = (value: string) => {
    const known = knownWord(states, value)
    return known ? t(`settings.server.${known}`) : value
  }
  return (
    <Facts items={[
      [t('settings.server.answers'), <StatePill key="a" tone={health.answers ? 'good' : 'bad'}>{health.answers ? t('settings.server.answers.in', { time: formatDuration(health.took_s) }) : t('ui.no')}</StatePill>],
      [t('settings.server.ready'), <StatePill key="r" tone={tones[status] ?? 'idle'}>{t(`settings.server.${status}`)}</StatePill>],
      ...Object.entries(health.readiness?.checks ?? {}).map(([name, value]) => [checkName(name), <StatePill key={name} tone={value === 'ok' ? 'good' : 'warn'}>{stateWord(value)}</StatePill>] as const),
      [t('settings.server.version'), health.version],
      [t('settings.server.interface'), <a key="o" href="/openapi.json" target="_blank" rel="noreferrer">{t('settings.server.openapi')}</a>],
    ]} />
  )
}
