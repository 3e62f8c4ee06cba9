/** The words of generated room names: lower-case a-z, friendly in every combination. No word is in both lists. */

export const adjectives = words(`
  able agile alpine amber ample aqua arctic ardent artful autumn avid azure balmy basic beaming blissful blithe
  blooming blue bold boreal bouncy brave breezy bright brisk bronze bubbly buoyant calm candid careful caring
  cheerful chipper civic classic clean clear clever coastal cobalt cool copper coral cordial cosmic cozy crafty
  crimson crisp crystal curious dainty dapper daring dawning dazzling deft dewy diligent dreamy driven eager
  early earnest earthy elated elegant emerald epic equal even evergreen fabled fair faithful famous fancy fast
  festive fine fleet floral flowing fluent flying focused fond formal frank free fresh friendly frosty gallant
  generous gentle genuine gifted glad gleaming glossy glowing golden good graceful grand grassy grateful great
  green happy hardy harmonic hazel hearty helpful heroic honest hopeful humble indigo ivory jade jolly jovial
  joyful jubilant keen kind kindly lasting laurel lavender leafy level light lilac lively logical loyal lucid
  lucky lunar magenta magic magnetic majestic maple marine mellow melodic merry mighty mild mindful mint misty
  modern modest musical natural neat nimble noble northern novel olive opal open orange orchid outgoing pacific
  pastel patient peaceful pearly perky placid playful pleasant plucky poetic polar polished polite precise prime
  proud prudent pure purple quaint quick quiet radiant rapid ready regal relaxed roaming robust rosy royal ruby
  rustic sage sandy sapphire scarlet scenic serene shining silent silver simple sincere skillful sleek smart
  smiling snowy social solar solid sparkling speedy splendid spry stable starry steady stellar sterling strong
  sturdy subtle summer sunlit sunny superb swift tactful thankful thoughtful thriving tidy timely topaz tranquil
  trusty truthful turquoise upbeat upland valiant velvet verdant vibrant violet vivid warm wavy welcoming
  whimsical willing windy winter wise witty wondrous woodland woven zealous zesty
`);

export const nouns = words(`
  acorn agate alcove almond anchor anthem apple apricot arbor arcade arch aspen aster atlas attic aurora avenue
  badge badger balcony ballad bamboo banjo banner basil basin bay beach beacon beaver beech bell berry birch
  bison blossom bluebird boat bonfire book boulder bouquet breeze bridge brook buffalo bugle butterfly cabin
  cactus camel candle canoe canopy canyon caravan cardinal caribou castle cavern cedar cello chapel chestnut
  chime cinder citrus clarinet cliff cloud clover coast comet compass concert condor cottage cove coyote crane
  crater creek cricket crocus crown current cypress daisy dale deer delta desert dew dolphin dome dove dragonfly
  dune eagle echo elk elm ember estuary falcon feather fern ferry festival fiddle field fig finch fjord flame
  flute forest fountain fox gable galaxy garden garnet gate gazelle geyser ginger glacier glade glen goldfinch
  gondola grove guitar gull harbor harp hawk heath heather hedge heron hill hollow horizon iris island ivy
  jasmine journey juniper kayak kestrel kettle kingdom kite koala lagoon lake lantern lark leaf ledge lemon
  lighthouse lily linden lotus lute lynx magnolia mallard mandolin mango marble marigold market marmot marsh
  meadow melody meteor mill mirror mist moon moose mosaic mountain nebula nectar oak oasis ocean orbit orchard
  oriole osprey otter owl palm panda pansy papaya parade parrot pasture path peach pear pearl pebble pelican
  penguin peony pepper petal piano pine planet plateau plaza pond poplar poppy prairie puffin quail quartz quill
  rain rainbow raven reef ridge river robin rocket rose saffron sail salmon savanna seal sequoia shore sky
  snowflake sonata song sparrow spring spruce star stone stork stream summit sun sunrise swan tangerine teapot
  temple thicket thistle thyme tiger trail trumpet tulip tundra turtle valley vineyard viola violin volcano
  walnut waterfall wave whale wharf willow wind window wren zebra zephyr zinnia
`);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
