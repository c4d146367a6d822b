import { Button, Menu, SegmentedControl, useMantineColorScheme } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { roleName } from '../../features/accounts/role_name'
import { type Language, useLanguage } from '../../i18n/language'
import { formatTime, type Zone } from '../../ui/format'
import { ErrorState } from '../../ui/states'
import { StatePill, type Tone } from '../../ui/state_pill'
import { useZone } from '../../ui/zone'
import { setAutoRefreshing, useAutoRefresh } from '../auto_refresh'
import icon from '../icon.svg'
import { useLive } from '../live'
import { Link } from '../router/link'
import { useSession } from '../session'
import styles from './shell.module.css'

export function Header(props: { isMenuOpen: boolean; onMenu: () => void; onPalette: () => void }) {
  const { t } = useLanguage()
  return (
    <header className={styles.header}>
      <Button className={styles.menu} aria-expanded={props.isMenuOpen} aria-controls="navigation" onClick={props.onMenu}>{t('shell.menu')}</Button>
      <Link href="/" className={styles.brand}><img src={icon} alt="" /><span className={styles.brandName}>Fathom</span><span className="visually-hidden">Fathom</span></Link>
      <Button className={styles.push} onClick={props.onPalette} aria-keyshortcuts="Control+K">
        <span className={styles.palette}>{t('shell.palette')}<span className={styles.kbd}>Ctrl K</span></span>
      </Button>
      <LiveMark />
      <Refreshing />
      <AccountMenu />
    </header>
  )
}

/** Whether what is shown follows what happens. */
function LiveMark() {
  const { t } = useLanguage()
  const { zone } = useZone()
  const { state, since } = useLive()
  const tones: Record<typeof state, Tone> = { live: 'good', connecting: 'idle', broken: 'warn', stopped: 'idle' }
  const hint = state === 'broken' ? t('shell.live.broken.hint', { time: formatTime(new Date(since).toISOString(), zone) }) : undefined
  const texts = { live: 'shell.live', connecting: 'shell.live.connecting', broken: 'shell.live.broken', stopped: 'shell.live.stopped' } as const
  return (
    <span role="status" className={`${styles.live} ${state === 'stopped' ? styles.stopped : ''}`}>
      <StatePill tone={tones[state]} {...(hint ? { title: hint } : {})}>{t(texts[state])}{hint ? <span className="visually-hidden">. {hint}</span> : null}</StatePill>
    </span>
  )
}

/** Stops and starts what is asked for again by itself; while that is stopped, asks by hand. */
function Refreshing() {
  const { t } = useLanguage()
  const client = useQueryClient()
  const isOn = useAutoRefresh()
  return (
    <span className={styles.refreshing}>
      <Button size="compact-xs" aria-pressed={!isOn} aria-label={t('shell.refresh.stop')} title={t('shell.refresh.stop')}
        onClick={() => setAutoRefreshing(!isOn)}><span aria-hidden="true">{isOn ? '❚❚' : '▶'}</span></Button>
      {isOn ? null : (
        <Button size="compact-xs" aria-label={t('shell.refresh.now')} title={t('shell.refresh.now')}
          onClick={() => void client.invalidateQueries()}><span aria-hidden="true">↻</span></Button>
      )}
    </span>
  )
}

function AccountMenu() {
  const { t } = useLanguage()
  const { session, signOut } = useSession()
  const leave = useMutation({ mutationFn: signOut })
  return (
    <Menu position="bottom-end" width={250} transitionProps={{ duration: 0 }} closeOnItemClick={false}>
      <Menu.Target><Button aria-label={t('shell.account', { name: session.name, role: roleName(t, session.role) })}>{session.name}</Button></Menu.Target>
      <Menu.Dropdown>
        <div className={styles.setting}><span>{t('shell.role')}</span>{roleName(t, session.role)}</div>
        <Menu.Divider />
        <Settings />
        <Menu.Divider />
        {leave.error ? <ErrorState title={t('shell.signout.failed')} error={leave.error} /> : null}
        <Menu.Item disabled={leave.isPending} onClick={() => leave.mutate()}>{t('shell.signout')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Language, colours and zone: what this browser remembers. */
export function Settings() {
  const { t, language, speak } = useLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { zone, setZone } = useZone()
  return (
    <>
      <div className={styles.setting}>
        <span>{t('shell.language')}</span>
        <SegmentedControl fullWidth aria-label={t('shell.language')} value={language} onChange={(value) => speak(value as Language)}
          data={[{ value: 'en', label: <span lang="en">English</span> }, { value: 'zh', label: <span lang="zh-CN">中文</span> }]} />
      </div>
      <div className={styles.setting}>
        <span>{t('shell.scheme')}</span>
        <SegmentedControl fullWidth aria-label={t('shell.scheme')} value={colorScheme}
          onChange={(value) => setColorScheme(value as 'auto' | 'light' | 'dark')}
          data={[{ value: 'auto', label: t('shell.scheme.auto') }, { value: 'light', label: t('shell.scheme.light') }, { value: 'dark', label: t('shell.scheme.dark') }]} />
      </div>
      <div className={styles.setting}>
        <span>{t('shell.zone')}</span>
        <SegmentedControl fullWidth aria-label={t('shell.zone')} value={zone} onChange={(value) => setZone(value as Zone)}
          data={[{ value: 'utc', label: t('shell.zone.utc') }, { value: 'local', label: t('shell.zone.local') }]} />
      </div>
    </>
  )
}
