import type { identityEn } from './text.en'

export const identityZh: Record<keyof typeof identityEn, string> = {
  'signin.title': '登录',
  'signin.with.password': '密码',
  'signin.with.token': '令牌',
  'signin.by': '通过 {provider} 登录',
  'signin.or': '或',
  'signin.name': '用户名',
  'signin.password': '密码',
  'signin.token': 'API 令牌',
  'signin.token.hint': '以 fth_ 开头。首个令牌位于服务器状态目录的 admin.token 文件中。',
  'signin.expired': '会话已结束。重新登录后将回到原页面。',
  'signin.wrong.password': '用户名或密码错误。',
  'signin.wrong.token': '令牌不存在、已撤销或已过期。',
}
