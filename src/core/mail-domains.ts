/** Domains of email addresses, and which of them give an address to everybody. */

/** Families of providers with a domain for each country, such as `yahoo.co.uk`. */
const FAMILIES = ['aol', 'gmx', 'hotmail', 'live', 'outlook', 'posteo', 'yahoo', 'yandex'];
const COUNTRY_DOMAIN = new RegExp(`^(?:${FAMILIES.join('|')})\\.(?:co\\.|com?\\.)?[a-z]{2,3}$`);

/** By region: worldwide, with privacy as their purpose, Europe, Asia, America, and without a sign-up. */
const PROVIDERS = new Set(
  `
  gmail.com googlemail.com icloud.com me.com mac.com msn.com passport.com windowslive.com ymail.com rocketmail.com
  myyahoo.com mail.com email.com usa.com post.com zoho.com zohomail.com zohomail.eu fastmail.com fastmail.fm hey.com
  inbox.com aim.com love.com verizon.net

  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tutamail.com tuta.com tuta.io keemail.me
  mailbox.org hushmail.com hush.com startmail.com runbox.com riseup.net disroot.org autistici.org kolabnow.com
  mailfence.com ctemplar.com cock.li duck.com mozmail.com passmail.net passinbox.com simplelogin.com slmail.me
  addy.io anonaddy.com anonaddy.me privaterelay.appleid.com relay.firefox.com

  web.de freenet.de t-online.de arcor.de vodafone.de vodafonemail.de kabelmail.de online.de mail.de email.de 1und1.de
  magenta.de unitybox.de freemail.de aon.at chello.at a1.net bluewin.ch hispeed.ch sunrise.ch mail.ch orange.fr
  wanadoo.fr free.fr sfr.fr neuf.fr laposte.net bbox.fr numericable.fr voila.fr club-internet.fr libero.it virgilio.it
  tiscali.it alice.it tin.it tim.it inwind.it iol.it fastwebnet.it email.it pec.it telefonica.net terra.es ono.com
  movistar.es sapo.pt clix.pt netcabo.pt skynet.be telenet.be proximus.be scarlet.be ziggo.nl kpnmail.nl kpnplanet.nl
  planet.nl home.nl hetnet.nl xs4all.nl upcmail.nl casema.nl chello.nl btinternet.com btopenworld.com talktalk.net
  sky.com virginmedia.com ntlworld.com blueyonder.co.uk tiscali.co.uk eircom.net telia.com bredband.net comhem.se
  spray.se tele2.se online.no broadpark.no jubii.dk mail.dk stofanet.dk kolumbus.fi elisanet.fi luukku.com suomi24.fi
  wp.pl o2.pl onet.pl onet.eu poczta.onet.pl interia.pl interia.eu op.pl tlen.pl gazeta.pl seznam.cz email.cz
  centrum.cz centrum.sk post.cz volny.cz atlas.cz azet.sk zoznam.sk freemail.hu citromail.hu indamail.hu t-online.hu
  abv.bg mail.bg dir.bg yahoo.ro otenet.gr forthnet.gr in.gr inbox.lv inbox.lt mail.ee hot.ee
  mail.ru bk.ru list.ru inbox.ru internet.ru ya.ru rambler.ru lenta.ru ukr.net i.ua meta.ua bigmir.net tut.by

  qq.com foxmail.com 163.com 126.com yeah.net vip.163.com sina.com sina.cn sohu.com aliyun.com 139.com 189.cn 21cn.com
  tom.com naver.com daum.net hanmail.net nate.com kakao.com docomo.ne.jp ezweb.ne.jp au.com softbank.ne.jp
  i.softbank.jp nifty.com biglobe.ne.jp ocn.ne.jp so-net.ne.jp excite.co.jp infoseek.jp rediffmail.com rediff.com
  sify.com indiatimes.com vsnl.net pldtdsl.net singnet.com.sg starhub.net.sg walla.com walla.co.il netvision.net.il
  bezeqint.net mynet.com turk.net

  comcast.net xfinity.com att.net sbcglobal.net bellsouth.net cox.net charter.net spectrum.net earthlink.net juno.com
  netzero.net optonline.net frontier.com centurylink.net windstream.net roadrunner.com rr.com rogers.com shaw.ca
  telus.net bell.net sympatico.ca videotron.ca uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com
  oi.com.br r7.com prodigy.net.mx fibertel.com.ar arnet.com.ar speedy.com.ar vtr.net bigpond.com bigpond.net.au
  optusnet.com.au iinet.net.au tpg.com.au internode.on.net xtra.co.nz slingshot.co.nz telkomsa.net mweb.co.za
  webmail.co.za

  mailinator.com guerrillamail.com guerrillamail.net sharklasers.com 10minutemail.com temp-mail.org yopmail.com
  trashmail.com maildrop.cc getnada.com dispostable.com mailnesia.com discard.email tempmail.com mintemail.com
  `
    .trim()
    .split(/\s+/),
);

/** The domain of a normalized address. */
export function mailDomainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/** SQL for the domain of a normalized address in `column`. */
export function mailDomainIn(column: string): string {
  return `split_part(${column}, '@', -1)`;
}

/**
 * Whether everybody can get an address of this domain, or of a domain above it. The list cannot be complete: what it
 * protects from is a mistake of the owner, not a stranger.
 */
export function isPublicMailDomain(domain: string): boolean {
  const labels = domain.split('.');
  return labels.some((_label, index) => {
    const parent = labels.slice(index).join('.');
    return PROVIDERS.has(parent) || COUNTRY_DOMAIN.test(parent);
  });
}
