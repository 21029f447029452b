"""General knowledge of English words in shops: what means nearly the same, and what everybody says all the time.

Tables only. Nothing here knows a document or a question; how words are cut and compared is in `words`.
"""

# A line is a concept, named by its first word. A word may stand in several lines. A pair with a dash is a verb and
# its particle, which may stand a few words apart: "send it back".
CONCEPTS = """
return send-back bring-back hand-back ship-back take-back returnable
refund reimburse reimbursement repay repayment money-back pay-back give-back get-back
money cash coin coins banknote sum amount fund funds
deliver delivery shipping dispatch ship shipment postage send
arrive arrival turn-up receive reach
parcel package packet box shipment consignment
carrier courier driver postman shipper haulier
crew fitter installer technician mechanic engineer workman
connect hook-up install plug-in wire connection installation fit
assemble assembly build put-together mount mounting set-up
buy purchase order bought acquire
order basket cart checkout
fee cost price charge surcharge tariff expense bill
free gratis complimentary free-of-charge costless
cheap cheaper inexpensive undercut bargain lower
expensive dear dearer pricier costly
discount rebate reduction markdown save saving percent-off allowance
sale promotion offer deal clearance
voucher coupon code promo
gift present giftcard
remainder rest leftover left remaining balance
broken defective faulty defect fault malfunction dead fail break-down
damaged damage scratched scratch dent dented smashed cracked crack shattered
repair fix mend workshop servicing
exchange replace replacement swap substitute alternative
cancel cancellation call-off back-out withdraw step-back revoke get-out
end terminate quit stop leave
change alter edit modify amend modification
correct correction fix rectify amend mistake
mistake error wrong slip oversight
customer client shopper buyer consumer purchaser
staff employee worker colleague personnel team
company firm business corporate enterprise commercial
student pupil apprentice trainee undergraduate
child children kid minor baby infant toddler
adult grown-up
boss lead supervisor manager head
lawyer solicitor attorney legal sue court
warranty guarantee cover covered coverage
late delay overdue behind slow
complaint complain grievance unhappy dissatisfied angry
apology sorry apologise goodwill compensation
expire expiry expiration lapse run-out invalid
valid validity good
lose lost missing vanish disappear gone mislay
steal stolen theft thief rob
find search look-for trace locate investigation
keep hold retain store storage
reserve reservation put-aside hold held set-aside
stock available availability supply sell-out
pick-up pickup collect collection fetch
store shop branch outlet counter
warehouse depot
recycle recycling dispose disposal scrap throw-away bin hand-in take-back
battery accumulator rechargeable cell
empty flat dead drained
explode burn fire flame smoke burning
swollen bulging bloated puffed
hazard hazardous dangerous danger chemical
invoice bill receipt statement
tax vat duty customs
account login profile
password sign-in log-in
member membership loyalty
point reward
instalment instalments plan monthly part-payment pay-monthly
loan lend borrow credit
early ahead prematurely beforehand advance
interest apr
bank card debit visa mastercard
pay payment settle paid spend
reject refuse decline declined refused turn-down
block blocked lock locked freeze frozen suspend
confirm confirmation approve approval authorise
allow permit permitted permission may
forbid forbidden ban prohibited exclude excluded
delete deletion erase erasure remove removal wipe forget
data information record
backup copy
recording recorded record tape
camera cctv surveillance video
call phone telephone ring
privacy gdpr confidential
cookie tracker tracking
newsletter mailing advertising marketing advert
review rate rating opinion feedback evaluate assess judge
request ask invitation invite inquiry
contact get-in-touch write
answer reply respond response
decide decision verdict determine
photo photograph picture image snapshot
document paper proof evidence certificate
identity id passport identification licence
age old young younger older
knife blade
period deadline term duration span
year yearly annual annually
quick quickly fast soon express promptly
open opening close closing shut
holiday christmas xmas festive
sleep bed mattress night
morning noon
quiet silence silent peace calm noise loud music
disability disabled wheelchair handicap accessible accessibility barrier
blind vision sight see
deaf hearing
stairs staircase upstairs floor storey
lift elevator
door doorway entrance threshold passage
width wide narrow clear
height tall high
size big large biggest measure dimension edge
weight heavy weigh
depth deep
speed velocity
wind gust gale storm force
rain wet water moisture
island islands canary tenerife majorca mallorca ibiza corsica crete lanzarote balearic
country abroad foreign international
neighbour neighbor
address location
street kerb curb roadside
sofa couch settee armchair
wardrobe cupboard closet cabinet chest
table desk
spring coil
dip sag hollow sagging
pillow duvet bedding blanket
fridge refrigerator freezer
stove oven hob cooker cooktop
gas propane
washing-machine washer laundry
dryer tumble-dryer
vacuum hoover
coffee espresso
mower lawnmower
robot robotic automatic
grill barbecue bbq
parasol sunshade umbrella awning
plant plants flower shrub tree bulb
wither withered wilted dry dried
shed greenhouse
lamp light bulb luminaire
lock locksmith
tv television screen
computer laptop notebook pc
phone smartphone mobile handset
console game games gaming playstation
controller joystick gamepad pad stick
drift drifting
headphone earphone earbud
device gadget appliance apparatus
part spare component
screw dowel bolt fitting fittings cam
tool spanner screwdriver
bicycle bike e-bike
car vehicle motor
match matching same equal
competitor rival elsewhere
estimate quote quotation
exceed above higher beyond over
limit maximum most upper cap max
minimum least lowest min
extra additional further more
standard normal usual regular
announce announcement
preorder pre-order release-date unreleased
back-in-stock restock
November black-friday
reminder dunning arrears overdue
die deceased death heir inherit
maintenance service maintain upkeep
injury injured hurt hurts wound
safe safety secure
fraud scam phishing
dispute ombudsman mediator arbitration
police authority
sell resell resale sold
use used usage wear worn
original packaging packing carton unopened sealed
spouse partner husband wife couple married
family household home relative parent mother father son daughter
pool merge combine share joint together
slot window appointment timeslot
mover remover crew
deduct subtract take-off withhold
reverse undo return revert
detective police officer investigator constable
alcohol beer wine spirit liquor
cashier till checkout register
test trial try sample check inspect inspection examine
component part piece spare
discontinued obsolete unavailable
fake false untrue lie untruthful
visitor guest caller
annoy bother disturb pester
deposit surety security
rent rental hire lend loan borrow
travel journey trip
move moving relocate shift postpone reschedule
choose select pick choice option
book booking reserve
manual guide handbook instruction leaflet booklet
braille blind tactile
driver chauffeur carrier courier
weekend saturday sunday
weekday monday tuesday wednesday thursday friday
noon midday lunchtime
evening night
today now currently presently nowadays present
formerly previously earlier
increase raise rise grow
reduce lower decrease cut shorten
split divide separate
whole entire complete total all
percent percentage
label sticker tag
envelope letter mail post
email e-mail mail message
text sms message
website site web page online internet
app application
job vacancy apply applicant applications
contract agreement
law legal statutory
right entitled entitlement claim
responsible liable liability risk
harm damage ruin spoil spoilt
leak leaking spill drip
tall high height
noise loud sound
kitchen cooking
garden outdoor yard lawn
winter cold frost snow
summer hot heat
heater heating radiator
cool cooling aircon
clean cleaning wash
paint varnish colour
glue adhesive
wood wooden timber
metal steel iron
glass pane mirror window
fabric textile cloth cover upholstery
leather hide
seat chair stool armchair
curtain blind shade
pipe tap plumbing faucet
toilet lavatory restroom bathroom
swimming pool spa
tent camping
suitcase luggage bag
pet dog cat animal
toy plaything
headset headphone
printer scanner
router wifi modem
watch clock
maker manufacturer producer
supplier vendor seller trader dealer marketplace
auction outlet
link url
difference gap
bear swallow absorb
supply provide fulfil
similar alike comparable
threat threaten menace
newspaper press journalist reporter media
doctor hospital ambulance
emergency urgent
accident incident
breach leak leaked
consent agree agreement permission
objection object oppose
copy duplicate print
signature sign signed
earn gain collect gather accumulate
scratch scuff mark
queue line waiting
countdown timer
open opened unsealed
floor ground
wall drill
guide instruction manual
"""

# Particles that make one meaning with a verb before them, and how many words may stand between.
PARTICLES = frozenset("back off out up in down away together aside for".split())  # noqa: SIM905  # reads better

IRREGULAR = """
send sent
pay paid
buy bought
break broke broken
lose lost
keep kept
hold held
sell sold
steal stole stolen
give gave given
take took taken
bring brought
find found
leave left
wear wore worn
choose chose chosen
withdraw withdrew withdrawn
come came
build built
spend spent
write wrote written
speak spoke spoken
tell told
freeze froze frozen
burn burnt
wide width
deep depth
high height
long length
die died dead death
child children
person people
"""

# What is said in nearly every text about a shop tells little about one of them.
EVERYDAY = """
customer customers order orders item items article articles thing things day days time times help desk shop store
shops stores someone somebody people person way ways new old take takes taken give gives given make makes made keep
keeps get put say says said ask asks see sees come comes case cases long short first last next still already always
never every another else also even without within working work works product products policy rule rules price euro
euros money pay paid pays buy bought sell sold send sent part parts full good number use used home month months week
weeks year years hour hours minute minutes until before after must may possible please larkfield want start end
believe think know find found offer part kind sort lot something sometimes really actually maximum most least many
much more less few several both same different other own free apply applies happen card page
"""

STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being below between both but by
    can cannot could did do does doing down during each ever few for from further get gets getting give given go goes
    going got had has have having he her here hers him his how i if in into is it its itself just know let like long
    many may me might more most much must my myself need needs no nor not now of off on once one only or other our
    ours out over own per please same shall she should so some someone something such tell than that the their theirs
    them then there these they this those through to too under until up upon us use used using very want wants was we
    were what when where whether which while who whom whose why will with within without would yes you your yours
    much happen happens possible anyone anything there's what's it's i'm don't doesn't can't won't isn't""".split()  # noqa: SIM905  # words read better as prose than as a list
)

_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905  # reads better
NUMBERS = {word: str(value) for value, word in enumerate(_COUNTED)} | {
    "fifteen": "15",
    "twenty": "20",
    "thirty": "30",
    "fifty": "50",
    "hundred": "100",
}
