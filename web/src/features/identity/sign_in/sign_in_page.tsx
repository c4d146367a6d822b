import { Button, PasswordInput, Tabs, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { ApiError } from '../../../api/problem'
import { type Credentials, providerAddress, readProvider, type Session, signIn } from '../../../api/session'
import icon from '../../../app/icon.svg'
import { type Language, useLanguage } from '../../../i18n/language'
import { ErrorState } from '../../../ui/states'
import styles from './sign_in.module.css'

export function SignInPage({ hasExpired, onSignedIn }: { hasExpired: boolean; onSignedIn: (session: Session) => void }) {
  const { t, language, speak } = useLanguage()
  const [way, setWay] = useState<string | null>('password')
  const [name, setName] = useState('')
  const [secret, setSecret] = useState('')
  // What was typed is not kept once it was sent.
  const mutation = useMutation({ mutationFn: (credentials: Credentials) => signIn(credentials), gcTime: 0, onSuccess: onSignedIn })
  useEffect(() => {
    document.title = `${t('signin.title')} · Fathom`
  }, [t])

  function submit(event: FormEvent) {
    event.preventDefault()
    mutation.mutate(way === 'token' ? { token: secret.trim() } : { name: name.trim(), password: secret })
  }
  const isWrong = mutation.error instanceof ApiError && mutation.error.status === 401
  return (
    <main className={styles.frame}>
      <div className={styles.box}>
        <h1 className={styles.title}><img src={icon} alt="" />Fathom</h1>
        {hasExpired ? <p role="status">{t('signin.expired')}</p> : null}
        <ProviderLink />
        <form onSubmit={submit}>
          <Tabs value={way} onChange={(next) => {
            setWay(next)
            setSecret('')
            mutation.reset()
          }}>
            <Tabs.List mb="sm">
              <Tabs.Tab value="password">{t('signin.with.password')}</Tabs.Tab>
              <Tabs.Tab value="token">{t('signin.with.token')}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="password">
              <TextInput name="username" label={t('signin.name')} autoComplete="username" required withAsterisk={false} value={name}
                onChange={(e) => setName(e.currentTarget.value)} mb="sm" />
              <PasswordInput name="password" label={t('signin.password')} autoComplete="current-password" required withAsterisk={false}
                value={secret} onChange={(e) => setSecret(e.currentTarget.value)} />
            </Tabs.Panel>
            <Tabs.Panel value="token">
              <PasswordInput name="token" label={t('signin.token')} description={t('signin.token.hint')} autoComplete="off" required
                withAsterisk={false} value={secret} onChange={(e) => setSecret(e.currentTarget.value)} />
            </Tabs.Panel>
          </Tabs>
          {isWrong ? <p role="alert" className={styles.wrong}>{t(way === 'token' ? 'signin.wrong.token' : 'signin.wrong.password')}</p> : null}
          {mutation.error && !isWrong ? <div className={styles.wrong}><ErrorState error={mutation.error} /></div> : null}
          <Button type="submit" variant="filled" fullWidth mt="md" loading={mutation.isPending}>{t('signin.title')}</Button>
        </form>
        <Button variant="subtle" mt="md" lang={language === 'en' ? 'zh-CN' : 'en'} onClick={() => speak((language === 'en' ? 'zh' : 'en') satisfies Language)}>
          {language === 'en' ? '中文' : 'English'}
        </Button>
      </div>
    </main>
  )
}

/** To the provider that signs people in, where there is one; the forms below it need none. */
function ProviderLink() {
  const { t } = useLanguage()
  const { data: provider } = useQuery({ queryKey: ['sign-in-provider'], queryFn: readProvider, staleTime: Infinity, retry: 1 })
  if (!provider) return null
  return (
    <>
      <Button component="a" href={providerAddress(window.location)} variant="filled" fullWidth>{t('signin.by', { provider })}</Button>
      <p className={`dim ${styles.or}`}>{t('signin.or')}</p>
    </>
  )
}
