# A product on OmniAuth, with the options that GitLab's documents give for it.
require 'json'
require 'rack'
require 'rack/handler/webrick'
require 'rack/protection'
require 'omniauth_openid_connect'

issuer, origin = ENV.values_at('ISSUER', 'ORIGIN')
# Without this line, discovery uses HTTPS.
SWD.url_builder = URI::HTTP
OmniAuth.config.path_prefix = '/users/auth'
OmniAuth.config.logger = Logger.new($stderr)

home = lambda do |env|
  session = env['rack.session']
  request = Rack::Request.new(env)
  case request.path
  when '/'
    if session['who']
      body = %(<pre id="who">#{Rack::Utils.escape_html(session['who'].to_json)}</pre><a href="/logout">Log out</a>)
    else
      token = Rack::Protection::AuthenticityToken.token(session)
      body = %(<form method="post" action="/users/auth/openid_connect">
        <input type="hidden" name="authenticity_token" value="#{token}"><button>Log in</button></form>)
    end
    [200, { 'content-type' => 'text/html' }, [body]]
  when '/users/auth/openid_connect/callback'
    auth = env['omniauth.auth']
    session['who'] = { uid: auth.uid, **auth.info.to_h.slice('name', 'email'), groups: auth.extra.raw_info['groups'] }
    [302, { 'location' => '/' }, []]
  when '/logout'
    session.delete('who')
    [302, { 'location' => '/' }, []]
  else
    [404, { 'content-type' => 'text/plain' }, [request.fullpath]]
  end
end

app = Rack::Builder.new do
  use Rack::Session::Cookie, key: 'product', secret: 'a secret of this test, of at least sixty-four characters ...............'
  use OmniAuth::Builder do
    provider :openid_connect,
             name: 'openid_connect',
             scope: %w[openid profile email groups],
             response_type: 'code',
             issuer: issuer,
             discovery: true,
             client_auth_method: 'query',
             uid_field: 'preferred_username',
             client_options: {
               identifier: ENV['CLIENT'],
               secret: ENV['SECRET'],
               redirect_uri: "#{origin}/users/auth/openid_connect/callback"
             }
  end
  run home
end

log = WEBrick::Log.new($stderr, WEBrick::Log::WARN)
Rack::Handler::WEBrick.run(app, Host: '127.0.0.1', Port: ENV['PORT'].to_i, Logger: log, AccessLog: [])
